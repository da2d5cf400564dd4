import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { completionScript, type Shell, shells } from "../../src/cli/completion/scripts.ts";
import { suggest } from "../../src/cli/completion/suggest.ts";
import { createProgram } from "../../src/cli/grammar/program.ts";
import { listModels } from "../../src/models/model-catalog.ts";
import { builtInProviders } from "../../src/models/providers/providers.ts";
import { type OpenTerminal, openTerminal } from "./open-terminal.ts";
import { bin, cleanEnvironment, runCli, writeProgram } from "./run-cli.ts";

const program = createProgram({ exitCode: 0, afterDashes: undefined });

async function valuesFor(...words: string[]): Promise<readonly string[]> {
  return (await suggest(program, words)).candidates.map(({ value }) => value);
}

describe("the words that fit", () => {
  it.each([
    [["expl"], ["explain"]],
    [["runs", "sh"], ["show"]],
    [["--cha"], ["--chat"]],
    [["run", ".", "--on-denied", "s"], ["stop"]],
    [["run", ".", "--on-denied=s"], ["--on-denied=stop"]],
    [
      ["run", "--limit", "t"],
      ["turns=", "tool_calls=", "tokens="],
    ],
    [["check", "--format", "sa"], ["sarif"]],
    [["keys", "set", "openr"], ["openrouter"]],
    [["run", "--model", "scr"], ["scripted:"]],
    [["completion", "b"], ["bash"]],
    [["docs", "first"], ["first-steps"]],
    [["help", "expl"], []],
    [["run", ".", "--", "expl"], []],
    [["run", "--approve-all", "--tu"], ["--tui"]],
    [["check", "--cha"], []],
  ])("after %j", async (words, expected) => {
    expect(await valuesFor(...words)).toEqual(expected);
  });

  it("are the models of a provider once it is chosen", async () => {
    const models = await valuesFor("run", "--model", "anthropic:claude-");
    expect(models.length).toBeGreaterThan(3);
    expect(models.every((id) => id.startsWith("anthropic:claude-"))).toBe(true);
  });

  it("of a flag that takes a file are files of the shell", async () => {
    expect(await suggest(program, ["run", ".", "-o", ""])).toEqual({ candidates: [], takesFiles: true });
  });

  it("are programs, workers, fields and scopes of a folder", async () => {
    const folder = await writeProgram({
      "main.worker":
        "---\ninput: { text: string, tone?: string }\nsandbox: { paths: { notes: { root: . } } }\n---\nUse {{ text }} and {{ tone }}.\n",
      "workers/helper.worker": "---\ndescription: Helps.\n---\nHelp.\n",
      "inner/main.worker": "---\ndescription: Is inside.\n---\nHelp.\n",
      "inner/plain/notes.md": "",
    });
    expect(await valuesFor("check", `${folder}/`)).toEqual([`${folder}/inner`, `${folder}/workers/`, `${folder}/main.worker`]);
    expect(await valuesFor("check", `${folder}/inner/`)).toEqual([`${folder}/inner/plain/`, `${folder}/inner/main.worker`]);
    expect(await valuesFor(folder, "--entry", "h")).toEqual(["helper"]);
    expect(await valuesFor(folder, "-i", "")).toEqual(["text=", "tone="]);
    expect(await valuesFor(folder, "--scope", "n")).toEqual(["notes="]);
  });

  it("are none, without a message, for a program with mistakes", async () => {
    const folder = await writeProgram({ "main.worker": "---\ntoolset: {}\n---\nx\n" });
    expect(await runCli(["__complete", "zsh", ".", "-i", ""], { cwd: folder })).toEqual({
      exitCode: 0,
      stdout: "nothing\n",
      stderr: "",
    });
  });
});

/** A folder to complete in, with the script and the command that it asks. */
async function prepare(shell: Shell): Promise<{ readonly cwd: string; readonly env: Readonly<Record<string, string>> }> {
  const cwd = await writeProgram({ "sub $(touch pwned) it's/main.worker": "---\ndescription: Is here.\n---\nHelp.\n" });
  const bins = join(cwd, "../bin");
  await mkdir(bins);
  await writeFile(join(bins, "llm-do"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, { mode: 0o755 });
  await writeFile(join(bins, `script.${shell}`), completionScript(shell));
  return { cwd, env: { PATH: `${bins}:${process.env["PATH"] ?? ""}` } };
}

/** The id of a model that its last two characters tell from all others. */
async function findModel(): Promise<string> {
  const ids = (await listModels("anthropic:*", builtInProviders)).map(({ id }) => id);
  return ids.find((id) => ids.filter((other) => other.startsWith(id.slice(0, -2))).length === 1) ?? "";
}

/** Types words and Tab at the prompt, waits for what becomes of them, and takes the line away. */
async function complete(terminal: OpenTerminal, typed: string, expected: string): Promise<void> {
  terminal.type(`${typed}\t`);
  await terminal.waitFor(expected);
  // The sum stands on the screen only once the shell has taken the new line.
  terminal.type(`\x15echo $((${typed.length} * 1000 + 7)) done\r`);
  await terminal.waitFor(`${typed.length * 1000 + 7} done\nready>`);
}

const isInstalled = (shell: string) => spawnSync(shell, ["--version"]).status === 0;

describe("real shells", () => {
  it.each(shells)("%s takes the script that `llm-do completion` prints", async (shell) => {
    const { cwd } = await prepare(shell);
    const { stdout, exitCode } = await runCli(["completion", shell], { cwd });
    expect({ stdout, exitCode }).toEqual({ stdout: completionScript(shell), exitCode: 0 });
    if (isInstalled(shell))
      expect(spawnSync(shell, ["-n", join(cwd, "../bin", `script.${shell}`)], { encoding: "utf8" }).stderr).toBe("");
  });

  it.skipIf(!isInstalled("bash"))("bash completes at Tab, also below a colon, and expands nothing", async () => {
    const { cwd, env } = await prepare("bash");
    await writeFile(join(cwd, "../rc"), "PS1='ready> '\nsource ../bin/script.bash\nbind 'set enable-bracketed-paste off'\n");
    const terminal = openTerminal([], {
      cwd,
      env,
      columns: 200,
      isDrawn: true,
      command: "exec bash --noprofile --rcfile ../rc -i",
    });
    await terminal.waitFor("ready>");
    await complete(terminal, "llm-do expl", "llm-do explain");
    await complete(terminal, "llm-do check sub", "check sub\\ \\$\\(touch\\ pwned\\)\\ it\\'s");
    await complete(terminal, "llm-do runs show la", "show last");
    const model = await findModel();
    await complete(terminal, `llm-do run --model ${model.slice(0, -2)}`, `--model ${model}`);
    expect(existsSync(join(cwd, "pwned"))).toBe(false);
  });

  it.skipIf(!isInstalled("zsh"))("zsh completes at Tab, also below a colon, and expands nothing", async () => {
    const { cwd, env } = await prepare("zsh");
    const start = "PS1='ready> '\nunset zle_bracketed_paste\nautoload -Uz compinit && compinit -u -D\nsource ../bin/script.zsh\n";
    await writeFile(join(cwd, "../.zshrc"), start);
    const terminal = openTerminal([], { cwd, env, columns: 200, isDrawn: true, command: "ZDOTDIR=.. exec zsh -d -i" });
    await terminal.waitFor("ready>");
    await complete(terminal, "llm-do expl", "llm-do explain");
    await complete(terminal, "llm-do check sub", "check sub\\ \\$\\(touch\\ pwned\\)\\ it\\'s");
    const model = await findModel();
    await complete(terminal, `llm-do run --model ${model.slice(0, -2)}`, `--model ${model}`);
    expect(existsSync(join(cwd, "pwned"))).toBe(false);
  });

  it.skipIf(!isInstalled("fish"))("fish completes, with descriptions, and expands nothing", async () => {
    const { cwd, env } = await prepare("fish");
    const ask = (words: string) => {
      const line = `source ../bin/script.fish; complete -C '${words}'`;
      return spawnSync("fish", ["--no-config", "-c", line], {
        cwd,
        encoding: "utf8",
        env: { ...cleanEnvironment(cwd), ...env },
      }).stdout;
    };
    expect(ask("llm-do expl")).toMatch(/^explain\tshow what a program is made of/);
    expect(ask("llm-do check sub")).toBe("sub $(touch pwned) it's\tprogram\n");
    expect(ask("llm-do check --model scr")).toMatch(/^scripted:\t/);
    expect(existsSync(join(cwd, "pwned"))).toBe(false);
  });
});
