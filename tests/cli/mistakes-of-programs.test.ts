import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mistakes } from "./command-lines/mistakes-of-programs.ts";
import { type CliResult, runCli, writeProgram } from "./run-cli.ts";

describe("mistakes that users make", () => {
  it("are reported at their place, with what is wrong and what to write", async () => {
    const folders = await Promise.all(mistakes.map(({ files = {} }) => writeProgram(files)));
    const lines = mistakes.map(({ command }, index) => ({ args: command, cwd: folders[index] }));
    const bin = join(import.meta.dirname, "fixtures/play-lines.ts");
    const played = await runCli([], { cwd: folders[0] ?? ".", bin, input: JSON.stringify(lines) });
    expect(played.stderr).toBe("");
    const results = JSON.parse(played.stdout) as readonly CliResult[];
    for (const [index, { name, code, says }] of mistakes.entries()) {
      const { exitCode, stdout = "", stderr = "" } = results[index] ?? {};
      const text = `${stdout}${stderr}`;
      expect({ name, exitCode }, text).toEqual({ name, exitCode: code });
      for (const part of says)
        if (typeof part === "string") expect(text, name).toContain(part);
        else expect(text, name).toMatch(part);
    }
  });
});
