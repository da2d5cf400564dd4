import { expect, test } from "vitest";
import { isCompatibleModel } from "./compatible-models.ts";

test.each([
  ["anthropic:claude-sonnet-4-5", ["anthropic:*"], true],
  ["anthropic:claude-sonnet-4-5", ["*"], true],
  ["anthropic:claude-sonnet-4-5", ["*:claude-*-4-?"], true],
  ["anthropic:claude-sonnet-4-5", ["anthropic/claude-*"], true],
  ["anthropic/claude-sonnet-4-5", ["anthropic:claude-*"], true],
  [" Anthropic:Claude-3 ", [" ANTHROPIC:claude-3  "], true],
  ["openrouter:anthropic/x", ["openrouter:*"], true],
  ["openrouter:anthropic/x", ["*/x"], true],
  ["openrouter:anthropic/x", ["anthropic:*"], false],
  ["anthropic:claude-3", ["claude-3"], false],
  ["anthropic:claude-3", ["anthropic:claude"], false],
  ["anthropic:claude.3", ["anthropic:claude-3"], false],
  ["anthropic:claude-3", [], false],
  ["scripted:/Play.ts", [], true],
  ["a:b", ["x", "a:b"], true],
])("%s with %j: %s", (id, globs, compatible) => {
  expect(isCompatibleModel(id, globs)).toBe(compatible);
});

test("a hostile glob takes no time", () => {
  const started = performance.now();
  expect(isCompatibleModel("a".repeat(2000), [`${"*a".repeat(500)}b`])).toBe(false);
  expect(performance.now() - started).toBeLessThan(500);
});
