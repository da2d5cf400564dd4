// Cases in processes of their own: how long one takes to its first request, and how much memory it comes to.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Arm, type Case, modelOf, question } from "./arm.ts";
import type { Entrant } from "./measure.ts";

const here = import.meta.dirname;

/** Programs and a state folder that no other processes use: the records of many runs take time. */
export interface Place {
  /** Below `results/`. Holds the scripts as JavaScript, as a package does, so that no process strips types. */
  readonly folder: string;
  /** Variables of the processes. */
  readonly variables: { readonly LLM_DO_STATE_DIR: string };
}

/**
 * Creates a place of its own, to be removed at the end of all: after many folders were removed, file systems make new ones slowly for
 * minutes (ext4: 400 µs in place of 40 for a folder with a file, until those removed have been written).
 */
export function createPlace(name: string): Place {
  mkdirSync(join(here, "results"), { recursive: true });
  const folder = mkdtempSync(join(here, "results", `${name}-`));
  for (const path of ["alone.ts", "arm.ts", ...globSync(["arms/*", "program/*.*"], { cwd: here })]) {
    const text = readFileSync(join(here, path), "utf8");
    const code = path.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
    const to = join(folder, path.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, code.replaceAll(/\.ts(?=["`:])/g, ".js"));
  }
  return { folder, variables: { LLM_DO_STATE_DIR: join(folder, "state") } };
}

export function removePlace({ folder }: Place): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Removes the records of runs. Compiled code is kept, as between two starts of a user. */
function removeRecords({ variables: { LLM_DO_STATE_DIR: state } }: Place): void {
  const recorded = globSync("*", { cwd: state, exclude: ["compile-cache"] }).map((name) => join(state, name));
  for (const path of recorded) rmSync(path, { recursive: true, force: true });
}

const execute = promisify(execFile);

/** Largest memory of a process that does the case once, in MB. Rejects after 30 s. `file` is the arm's in `arms/`. */
export async function measureMemory(
  file: string,
  one: Case,
  { place, baseUrl }: Pick<Start, "place" | "baseUrl">,
): Promise<number> {
  removeRecords(place);
  const { stdout } = await execute(process.execPath, [join(place.folder, "alone.js"), file, modelOf(one), baseUrl], {
    timeout: 30_000,
    env: { ...process.env, ...place.variables },
  });
  return Number(stdout.trim().split("\n").at(-1));
}

/** The folder in which processes are started, and the server that tells when it got a request. */
export interface Start {
  readonly place: Place;
  readonly server: ChildProcess;
  readonly baseUrl: string;
}

/** A script with a library, started anew in each round; its time is that from the start of the process to the first request. */
export function enterScript(arm: Arm, file: string, from: Start): Entrant {
  return { arm, time: (one) => start([join(from.place.folder, "alone.js"), file, modelOf(one), from.baseUrl], from) };
}

/** The command of llm-do in place of a script. */
export function enterCommand(from: Start): Entrant {
  const bin = join(here, "node_modules/llm-do/bin/llm-do.js");
  const argsOf = (one: Case) => {
    const worker = join(from.place.folder, `program/${one.count === 0 ? "plain" : "lookup"}.worker`);
    return [bin, worker, question, "--model", `bench:${modelOf(one)}`, "--trust", "--reject-all"];
  };
  const arm: Arm = { name: "llm-do, command", prepare: () => Promise.reject(new Error("it is no library")) };
  return { arm, time: (one) => start(argsOf(one), from) };
}

async function start(args: readonly string[], { place, server, baseUrl }: Start): Promise<{ wall: number; cpu: number }> {
  removeRecords(place);
  const began = performance.timeOrigin + performance.now();
  const requested = new Promise<number>((resolve) => {
    const listen = ({ at }: { at: number }) => {
      if (at < began) return;
      server.off("message", listen);
      resolve(at);
    };
    server.on("message", listen);
  });
  const env = { ...process.env, ...place.variables, BENCH_URL: baseUrl };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"], env });
  let errors = "";
  child.stderr.on("data", (part: Buffer) => {
    errors += part;
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`its process ended with ${code}: ${errors}`);
  return { wall: (await requested) - began, cpu: Number.NaN };
}
