import type { Command } from "commander";
import { afterEach, describe, expect, it, vi } from "vitest";
import { asStarted, commandName } from "./command-name.ts";
import { createProgram } from "./grammar/program.ts";

describe("a message that names a command", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("stays as it is where the command is on the path", () => {
    vi.stubEnv("npm_command", undefined);
    expect(asStarted("`llm-do check` says more")).toBe("`llm-do check` says more");
  });

  it.each(
    createProgram({ exitCode: 0, afterDashes: undefined })
      .commands.filter((command: Command) => !command.name().startsWith("_"))
      .map((command) => command.name()),
  )("names npx before `llm-do %s`, if that began the process", (name) => {
    vi.stubEnv("npm_command", "exec");
    expect(asStarted(`run \`llm-do ${name} x\``)).toBe(`run \`npx llm-do ${name} x\``);
  });

  it("brings the Node again, if npx brought it", () => {
    vi.stubEnv("npm_command", "exec");
    expect(commandName("/home/ada/.npm/_npx/0a1b/node_modules/node/bin/node")).toBe("npx -p node@24 -p llm-do llm-do");
    expect(commandName("/home/ada/desk/node_modules/node/bin/node")).toBe("npx llm-do");
  });

  it.each([
    "llm-do: npx llm-do check says more",
    "llm-do reads no such file",
    "/opt/llm-do check",
    "12 | Run llm-do check.",
    "   | llm-do check",
  ])("leaves %j", (text) => {
    vi.stubEnv("npm_command", "exec");
    expect(asStarted(text)).toBe(text);
  });
});
