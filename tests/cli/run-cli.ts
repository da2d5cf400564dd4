import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { onTestFinished } from "vitest";

const repository = resolve(import.meta.dirname, "../..");

/** The real command, which runs `dist/`. `LLM_DO_TEST_BIN` names another copy of it. */
export const bin: string = process.env["LLM_DO_TEST_BIN"] ?? join(repository, "bin/llm-do.js");
export const example: string = join(repository, "examples/pitchdeck_eval");
/** Plays the models of the example. It is named by its absolute path: its imports are found from there. */
export const scripted = `scripted:${join(example, "scripted.ts")}`;
/** The same, but each of its answers takes `SLOW_MILLISECONDS`. */
export const slowScripted = `scripted:${join(import.meta.dirname, "fixtures/slow.ts")}`;

/** Says what it was told: for conversations. */
export const chatScripted = `scripted:${join(import.meta.dirname, "fixtures/chat.ts")}`;

/** A program whose model never answers its second request, and whose toolset never closes. It says `asked` and `closing`. */
export function writeStubborn(): Promise<string> {
  return writeProgram({
    "main.worker": "---\nmodel: scripted:model.mjs\ntoolsets: { hold: {} }\n---\nWait.\n",
    "model.mjs":
      "export default ({ turn }) =>\n" +
      '  turn === 1 ? { calls: [{ tool: "noop", args: {} }] } : new Promise(() => setInterval(() => undefined, 1000, console.log("asked")));\n',
    "tools.ts": `import { tool, toolset } from "llm-do";
const noop = tool({ name: "noop", input: { type: "object" }, approval: "pre-approved", run: () => null });
export const hold = toolset({ name: "hold", tools: () => [noop], close: () => new Promise<void>(() => console.log("closing")) });
`,
  });
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Content of stdin. Default: nothing, as from /dev/null. */
  readonly input?: string | Uint8Array;
  /** Default: the Node that runs the tests. */
  readonly node?: string;
  readonly bin?: string;
  readonly uid?: number;
}

export interface CliResult {
  /** Null where a signal ended the process. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  readonly result: Promise<CliResult>;
  /** Resolves when stderr holds the text; rejects when the process ends without it. */
  stderrHolds(text: string): Promise<void>;
  /** All that came on stderr so far. */
  stderrSoFar(): string;
}

/** Runs the command to its end. */
export function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return startCli(args, options).result;
}

export function startCli(args: readonly string[], options: CliOptions): RunningCli {
  const { node = process.execPath, bin: script = bin, cwd, input, env = {}, uid } = options;
  const child = spawn(node, [script, ...args], {
    cwd,
    env: { ...cleanEnvironment(cwd), ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    // A session of its own: a question must not reach the terminal that the tests run on.
    detached: true,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input);
  return watch(child);
}

/** Collects what a process writes. */
export function watch(child: ChildProcess): RunningCli {
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const listener of listeners) listener();
  });
  const result = new Promise<CliResult>((done, fail) => {
    child.on("error", fail);
    child.on("close", (exitCode) => done({ exitCode, stdout, stderr }));
  });
  const stderrHolds = (text: string) =>
    new Promise<void>((done, fail) => {
      const look = () => stderr.includes(text) && done();
      listeners.add(look);
      look();
      result.then(() => fail(new Error(`the process ended, and stderr does not hold ${JSON.stringify(text)}:\n${stderr}`)), fail);
    });
  return { child, result, stderrHolds, stderrSoFar: () => stderr };
}

/** Nothing of the machine that the tests run on: its keys, models and trusted folders. The home is beside the working directory. */
export function cleanEnvironment(cwd: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: join(dirname(cwd), "home"),
    LLM_DO_STATE_DIR: join(dirname(cwd), "state"),
    TERM: "xterm-256color",
    // Else compiled code would be kept in the state folder, which is new in each test.
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
  };
}

/** A new folder, without links in its path; gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "llm-do-cli-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A copy of the example, as from a fresh clone. */
export async function copyExample(): Promise<string> {
  const folder = join(await temporaryFolder(), "pitchdeck_eval");
  await cp(example, folder, { recursive: true, filter: (path) => !/(\.llm-do|evaluations)$/.test(path) });
  return folder;
}

/** A program of these files, in a folder `program`. */
export async function writeProgram(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(await temporaryFolder(), "program");
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** A script that answers each turn of each worker in order: `{ main: [reply, …] }`, in the form of `scripted:x.yaml`. */
export function script(workers: Readonly<Record<string, readonly unknown[]>>): string {
  const rules = Object.entries(workers).map(([name, replies]) => [name, replies.map((reply) => ({ reply }))]);
  return JSON.stringify({ workers: Object.fromEntries(rules) });
}

/** A program that writes these texts to a file, one a turn, and then says `finished`. */
export function writeWriter(contents: readonly string[], path = "out.txt"): Promise<string> {
  const calls = contents.map((content) => ({ calls: [{ tool: "write_file", args: { path, content } }] }));
  return writeProgram({
    "main.worker": "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
    "model.yaml": script({ main: [...calls, "finished"] }),
  });
}
