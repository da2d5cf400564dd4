import { describe, expect, test } from "vitest";
import { parseModelId } from "./model-id.ts";

const providers = ["anthropic", "openai", "openrouter", "ollama", "scripted"];

describe("parseModelId", () => {
  test.each([
    ["anthropic:claude-sonnet-4-5", "anthropic:claude-sonnet-4-5", "claude-sonnet-4-5"],
    ["anthropic/claude-sonnet-4-5", "anthropic:claude-sonnet-4-5", "claude-sonnet-4-5"],
    [" OpenAI : GPT-5 ", "openai:GPT-5", "GPT-5"],
    ["openrouter:anthropic/claude-3:beta", "openrouter:anthropic/claude-3:beta", "anthropic/claude-3:beta"],
    ["openrouter/anthropic/claude-3", "openrouter:anthropic/claude-3", "anthropic/claude-3"],
    ["ollama:llama3:8b", "ollama:llama3:8b", "llama3:8b"],
    ["scripted:/Home/Me/Play.ts", "scripted:/Home/Me/Play.ts", "/Home/Me/Play.ts"],
    ["scripted:C:\\play.ts", "scripted:C:\\play.ts", "C:\\play.ts"],
  ])("reads %s", (text, id, name) => {
    expect(parseModelId(text, providers)).toMatchObject({ ok: true, value: { id, name } });
  });

  test.each([
    ["", "empty", undefined],
    ["  ", "empty", undefined],
    ["claude-sonnet-4-5", "no-provider", "anthropic"],
    ["gpt-5", "no-provider", "openai"],
    ["play.yaml", "no-provider", "scripted"],
    ["whatever", "no-provider", undefined],
    [":x", "no-provider", undefined],
    ["anthropic:", "no-name", undefined],
    ["antropic:x", "unknown-provider", "anthropic"],
    ["mistral:x", "unknown-provider", undefined],
    ["__proto__:x", "unknown-provider", undefined],
  ])("refuses %j", (text, type, suggestion) => {
    const parsed = parseModelId(text, providers);
    if (parsed.ok) throw new Error("was read");
    expect([parsed.error.type, parsed.error.suggestion]).toEqual([type, suggestion]);
    if (suggestion) expect(parsed.error.message).toContain(suggestion);
    if (type !== "no-name") expect(parsed.error.message).toContain("Providers: anthropic, openai, openrouter, ollama, scripted.");
  });
});
