import { mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ShellWork } from "../../src/toolsets/shell/access.ts";
import { createShellToolset } from "../../src/toolsets/shell/shell.ts";
import type { WorkerRuntime } from "../../src/toolsets/toolset.ts";
import { commandLine } from "./command-grammar.ts";
import { createHostileFolder } from "./hostile-folder.ts";
import { markFolder } from "./trace.ts";
import { tracedRules } from "./traced-rules.ts";

/*
 * Judges random command lines and runs what is allowed, as the gate would; in a process of its own, so that all of it can be
 * traced. A line of JSON on stdout for each; in the trace, an attempt to open a file that is not there stands before each.
 */

export interface TracedRun {
  readonly index: number;
  readonly text: string;
  /** The program to start. Undefined where it was not allowed. */
  readonly argv: readonly string[] | undefined;
  /** Changes in the folder, `out` apart. */
  readonly changed: readonly string[];
}

export interface TracedOptions {
  readonly seed: number;
  readonly count: number;
  /** `refused`: to see that the trace shows harm, runs what is not allowed instead. */
  readonly chosen: "allowed" | "refused";
}

const { seed, count, chosen } = JSON.parse(process.argv[2] ?? "{}") as TracedOptions;
const machine = createHostileFolder();
const root = join(machine.root, "work");
machine.put("outside/file", "canary\n");
const { commands, openScopes } = createNodeHost({ workingDirectory: machine.root });
const scopes = await openScopes(
  [
    { name: ".", root, mode: "rw" },
    { name: "docs", root: join(root, "docs"), mode: "ro" },
    { name: "out", root: join(root, "out"), mode: "rw" },
  ],
  { programFiles: [join(root, "main.worker")], programFolder: root },
);
const toolset = createShellToolset({ commands });
const config = { rules: tracedRules };
const [tool] = toolset.tools(config, {
  worker: "w",
  readable: scopes.readable(),
  writable: scopes.writable(),
  networkEnabled: false,
});
const { signal } = new AbortController();
const done = new Set<string>();
let state = snapshot();

function freshen(): void {
  // The folder itself is a scope's root: another in its place would be refused.
  for (const name of readdirSync(join(root, "out"))) rmSync(join(root, "out", name), { recursive: true, force: true });
  mkdirSync(join(root, "out/log"));
  writeFileSync(join(root, "out/old.txt"), "x y\n");
}

function snapshot(): Readonly<Record<string, string>> {
  const all = Object.entries(machine.snapshot()).filter(([name]) => !name.startsWith("work/out/"));
  return Object.fromEntries(all);
}

async function runOne(index: number, text: string): Promise<TracedRun | undefined> {
  const call = { tool: "shell", args: { command: text, timeout: chosen === "allowed" ? 5 : 1 }, config };
  const preparation = await toolset.prepare?.(call, {
    scopes,
    signal,
    caller: { name: "w", depth: 0, maxDepth: 1 },
    networkEnabled: false,
  });
  if (preparation === undefined || tool === undefined) throw new Error("no shell");
  const verdict = toolset.needsApproval?.({ ...call, args: preparation.canonicalArgs, preparation });
  const { request } = preparation.payload as ShellWork;
  const key = JSON.stringify(request);
  const isWanted = (verdict?.type === "pre-approved") === (chosen === "allowed");
  if (!isWanted || done.has(key)) return undefined;
  done.add(key);
  const before = state;
  mark(index);
  await tool.execute(
    preparation.canonicalArgs as JsonObject,
    { scopes, signal } as unknown as WorkerRuntime,
    preparation.payload,
  );
  mark(-1);
  state = snapshot();
  const names = new Set([...Object.keys(before), ...Object.keys(state)]);
  const changed = [...names].filter((name) => before[name] !== state[name]);
  freshen();
  const argv = request.type === "argv" ? request.argv : ["bash", "--noprofile", "--norc", "-c", request.script];
  return { index, text, argv, changed };
}

function mark(index: number): void {
  try {
    openSync(`${markFolder}${index}`, "r");
  } catch {
    // It is not there: the attempt is in the trace.
  }
}

try {
  freshen();
  for (const [index, text] of fc.sample(commandLine, { numRuns: count, seed }).entries()) {
    const ran = await runOne(index, text);
    if (ran !== undefined) process.stdout.write(`${JSON.stringify(ran)}\n`);
  }
} finally {
  await scopes.close();
  machine.remove();
}
