import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { bin, cleanEnvironment, runCli, startCli, writeProgram } from "./run-cli.ts";

const tools = `import { appendFileSync } from "node:fs";
import { tool } from "llm-do";
export const note = tool({
  input: { type: "object", properties: { text: { type: "string" } } },
  run: ({ text }: { text?: string }) => (appendFileSync(process.env["LEDGER"] ?? "ledger", text + "\\n"), "noted"),
});
`;

/** Answers at once, unless a file says that it has to wait for ever. */
const playing = `import { existsSync } from "node:fs";
const usage = { inputTokens: 1000, outputTokens: 500 };
export default async ({ turn, lastUserText }: { turn: number; lastUserText: () => string }) => {
  if (turn === 2 && existsSync("../slow")) await new Promise((resolve) => setTimeout(resolve, 60_000, console.error("asked again")));
  return turn === 1 ? { calls: [{ tool: "note", args: { text: lastUserText() } }], usage } : { text: "done", usage };
};
`;

const files = { "main.worker": "---\ntoolsets: { note: {} }\n---\nTake notes.\n", "tools.ts": tools, "script.ts": playing };
const scripted = ["--model", "scripted:script.ts"];

interface Shell {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a printed line in a shell, which finds the command as one that is installed. */
async function runPrinted(line: string | undefined, cwd: string): Promise<Shell> {
  expect(line).toMatch(/^llm-do /);
  const folder = join(dirname(cwd), "bin");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "llm-do"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
  await chmod(join(folder, "llm-do"), 0o755);
  const environment = cleanEnvironment(cwd);
  const env = { ...environment, PATH: `${folder}:${environment["PATH"]}`, LEDGER: ledgerOf(cwd) };
  // A session of its own: a question must not reach the terminal that the tests run on.
  const child = spawn("sh", ["-c", line ?? ""], { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { exitCode: Number(exitCode ?? -1), stdout, stderr };
}

const ledgerOf = (cwd: string) => join(dirname(cwd), "ledger");
const env = (cwd: string) => ({ LEDGER: ledgerOf(cwd) });
const goesOn = (stderr: string) => /`(llm-do resume [^`]+)` goes on with/.exec(stderr)?.[1];

describe("every line that names the next step works as it is printed", { timeout: 60_000 }, () => {
  it("after Ctrl-C: with the script, the trust and the approvals of the run", async () => {
    const cwd = await writeProgram(files);
    await writeFile(join(cwd, "..", "slow"), "");
    const running = startCli([".", "a b", ...scripted, "--trust", "--approve-all"], { cwd, env: env(cwd) });
    await running.stderrHolds("asked again");
    running.child.kill("SIGINT");
    const { stderr } = await running.result;
    await writeFile(join(cwd, "script.ts"), playing.replace("../slow", "../none"));
    expect(goesOn(stderr)).toMatch(/^llm-do resume \S+ --model scripted:script\.ts --trust --approve-all$/);
    expect(await runPrinted(goesOn(stderr), cwd)).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(await readFile(ledgerOf(cwd), "utf8")).toBe("a b\n");
  });

  it("after kill -9: what resume refuses says the line that goes on", async () => {
    const cwd = await writeProgram({ ...files, "tools.ts": tools.replace("run:", 'approval: "pre-approved", run:') });
    await writeFile(join(cwd, "..", "slow"), "");
    const running = startCli([".", "a", ...scripted, "--trust"], { cwd, env: env(cwd) });
    await running.stderrHolds("asked again");
    running.child.kill("SIGKILL");
    await running.result;
    await writeFile(join(cwd, "script.ts"), playing.replace("../slow", "../none"));
    const refused = await runCli(["resume"], { cwd });
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("Look at it (llm-do explain .)");
    const line = /^ {2}(llm-do resume .*)$/m.exec(refused.stderr)?.[1];
    expect(line).toMatch(/ --model scripted:script\.ts --trust$/);
    expect(await runPrinted(line, cwd)).toMatchObject({ exitCode: 0, stdout: "done\n" });
  });

  it("needs no trust where a script of the user is all the code there is", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\n---\nAnswer.\n",
      "script.ts": 'export default () => { throw new Error("not yet"); };\n',
    });
    expect(await runCli([".", "a", ...scripted], { cwd })).toMatchObject({ exitCode: 2, stdout: "" });
    await writeFile(join(cwd, "script.ts"), 'export default () => "done";\n');
    const refused = await runCli(["resume"], { cwd });
    const line = /^ {2}(llm-do resume .*)$/m.exec(refused.stderr)?.[1];
    expect(line).toMatch(/ --model scripted:script\.ts$/);
    expect(await runPrinted(line, cwd)).toMatchObject({ exitCode: 0, stdout: "done\n" });
    const { stdout } = await runCli(["explain", ".", ...scripted], { cwd });
    expect(stdout).toMatch(/1 worker, the script\s+script\.ts,\s+which\s+is\s+code\s+that\s+you\s+named/);
  });

  it("at a suspension: looking, answering and going on, with another store and a rule", async () => {
    const cwd = await writeProgram(files);
    const line = [".", "a", ...scripted, "--trust", "--hold", "--deny", "main/other(*)", "--store", "../my runs"];
    const { exitCode, stderr } = await runCli(line, { cwd, env: env(cwd) });
    expect(exitCode).toBe(4);
    const step = (name: string) => new RegExp(`^ *${name}: +(llm-do .*)$`, "m").exec(stderr)?.[1];
    expect(await runPrinted(step("look"), cwd)).toMatchObject({ exitCode: 0 });
    const answered = await runPrinted(step("answer")?.replace("NUMBER...", "1"), cwd);
    expect(answered).toMatchObject({ exitCode: 0 });
    expect(goesOn(answered.stderr)).toBe(step("go on")?.replace(" --deny 'main/other(*)'", ""));
    expect(await runPrinted(step("go on"), cwd)).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(await readFile(ledgerOf(cwd), "utf8")).toBe("a\n");
  });

  it("at a limit of the command line: with a larger one", async () => {
    const cwd = await writeProgram({ ...files, "tools.ts": tools.replace("run:", 'approval: "pre-approved", run:') });
    const line = [".", "a", ...scripted, "--trust", "--price", "scripted:*=3,15", "--limit", "usd=0.0106"];
    const { exitCode, stderr } = await runCli(line, { cwd, env: env(cwd) });
    expect(exitCode).toBe(6);
    expect(goesOn(stderr)).toMatch(/^llm-do resume \S+ --model scripted:script\.ts --trust --limit usd=0\.1$/);
    expect(await runPrinted(goesOn(stderr), cwd)).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(await readFile(ledgerOf(cwd), "utf8")).toBe("a\n");
  });

  it("at a limit with --quiet; without the approvals of the run, and nobody to ask, nothing is denied", async () => {
    const cwd = await writeProgram(files);
    const limited = ["--price", "scripted:*=3,15", "--limit", "usd=0.000001", "--approve", "main/note", "--quiet"];
    const { exitCode, stdout, stderr } = await runCli([".", "a", ...scripted, "--trust", ...limited], { cwd, env: env(cwd) });
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: expect.any(String) });
    expect(stderr).toMatch(/^llm-do: the run ended at a limit: /);
    expect(goesOn(stderr)).toContain("--approve main/note --limit usd=0.000002");
    const again = ["resume", ...scripted, "--trust", "--limit", "usd=1"];
    expect(await runCli(again, { cwd, env: env(cwd) })).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining("1 call waits for an answer"),
    });
    const answered = await runCli([...again, "--approve", "main/note"], { cwd, env: env(cwd) });
    expect(answered).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(await readFile(ledgerOf(cwd), "utf8")).toBe("a\n");
  });

  it("at a limit of the worker's file: after that was changed", async () => {
    const limited = (turns: number) => `---\ntoolsets: { note: {} }\nlimits: { turns: ${turns} }\n---\nTake notes.\n`;
    const cwd = await writeProgram({
      ...files,
      "main.worker": limited(1),
      "tools.ts": tools.replace("run:", 'approval: "pre-approved", run:'),
    });
    const { exitCode, stderr } = await runCli([".", "a", ...scripted, "--trust"], { cwd, env: env(cwd) });
    expect(exitCode).toBe(6);
    expect(stderr).toContain("raise `turns` under `limits` of main.worker to 2; then `llm-do resume ");
    await writeFile(join(cwd, "main.worker"), limited(5));
    expect(await runPrinted(goesOn(stderr), cwd)).toMatchObject({ exitCode: 0, stdout: "done\n" });
  });

  it("names the command as npx and npm scripts start it", async () => {
    const cwd = await writeProgram(files);
    const started = { cwd, env: { ...env(cwd), npm_command: "exec" } };
    const { stderr } = await runCli([".", "a", ...scripted, "--trust", "--hold"], started);
    for (const name of ["look", "answer", "go on"]) expect(stderr).toMatch(new RegExp(`${name}: +npx llm-do `));
    expect((await runCli(["resume"], started)).stderr).toContain("Look at it (npx llm-do explain .)");
    const mistaken = (...words: string[]) => runCli(words, started).then((ended) => ended.stderr);
    expect(await mistaken("chekc")).toContain("if a command was meant: npx llm-do check\n");
    expect(await mistaken("check", "--colour")).toContain("(npx llm-do check --help lists what it takes)");
    expect(await mistaken("keys", "set", "foo")).toContain("; npx llm-do models lists the providers");
  });
});
