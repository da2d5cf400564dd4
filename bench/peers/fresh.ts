// Cases in processes of their own: how long one takes to its first request, and how much memory it comes to.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Arm, type Case, modelOf, question } from "./arm.ts";
import type { Entrant } from "./measure.ts";

const here = import.meta.dirname;
const folder = join(here, "results/js");

/** Writes the scripts as JavaScript, as a package holds them: no process strips types. */
export function writeScripts(): void {
  rmSync(folder, { recursive: true, force: true });
  for (const path of ["alone.ts", "arm.ts", ...globSync(["arms/*", "program/*.*"], { cwd: here })]) {
    const text = readFileSync(join(here, path), "utf8");
    const code = path.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
    const to = join(folder, path.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, code.replaceAll(/\.ts(?=["`:])/g, ".js"));
  }
}

const execute = promisify(execFile);

/** Largest memory of a process that does the case once, in MB. Rejects after 30 s. `file` is the arm's in `arms/`. */
export async function measureMemory(file: string, one: Case, baseUrl: string): Promise<number> {
  const { stdout } = await execute(process.execPath, [join(folder, "alone.js"), file, modelOf(one), baseUrl], {
    timeout: 30_000,
  });
  return Number(stdout.trim().split("\n").at(-1));
}

/** A script with a library, started anew in each round; its time is that from the start of the process to the first request. */
export function enterScript(arm: Arm, file: string, server: ChildProcess, baseUrl: string): Entrant {
  return { arm, time: (one) => start(server, [join(folder, "alone.js"), file, modelOf(one), baseUrl], baseUrl) };
}

/** The command of llm-do in place of a script. */
export function enterCommand(server: ChildProcess, baseUrl: string): Entrant {
  const bin = join(here, "node_modules/llm-do/bin/llm-do.js");
  const argsOf = (one: Case) => {
    const worker = join(folder, `program/${one.count === 0 ? "plain" : "lookup"}.worker`);
    return [bin, worker, question, "--model", `bench:${modelOf(one)}`, "--trust", "--reject-all"];
  };
  const arm: Arm = { name: "llm-do, command", prepare: () => Promise.reject(new Error("it is no library")) };
  return { arm, time: (one) => start(server, argsOf(one), baseUrl) };
}

async function start(server: ChildProcess, args: readonly string[], baseUrl: string): Promise<{ wall: number; cpu: number }> {
  const began = performance.timeOrigin + performance.now();
  const requested = new Promise<number>((resolve) => {
    const listen = ({ at }: { at: number }) => {
      if (at < began) return;
      server.off("message", listen);
      resolve(at);
    };
    server.on("message", listen);
  });
  const env = { ...process.env, BENCH_URL: baseUrl };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"], env });
  let errors = "";
  child.stderr.on("data", (part: Buffer) => {
    errors += part;
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`its process ended with ${code}: ${errors}`);
  return { wall: (await requested) - began, cpu: Number.NaN };
}
