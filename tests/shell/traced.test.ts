import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import { coversCommand, parsePattern } from "../../src/toolsets/shell/patterns.ts";
import { noWall } from "../host/command-bench.ts";
import { type Traced, TraceReader, tracedCalls } from "./trace.ts";
import { tracedRules } from "./traced-rules.ts";
import type { TracedOptions, TracedRun } from "./traced-runner.ts";

/*
 * Random command lines of real programs. What is allowed is run behind the wall and traced: it starts no program that no
 * rule covers, and changes no file but through a program or a redirection that a rule lets write there.
 */

const texts = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 100);
const strace = "/usr/bin/strace";
const why = noWall !== "" ? noWall : existsSync(strace) ? "" : "strace is not installed";
if (why !== "") process.stderr.write(`\n*** WHAT COMMANDS DO IS NOT TRACED: ${why} ***\n\n`);

interface Told {
  readonly run: TracedRun;
  readonly did: readonly Traced[];
}

/** Runs all of them in one traced process; gives what each of them did. */
async function trace(options: TracedOptions): Promise<readonly Told[]> {
  const runner = [process.execPath, join(import.meta.dirname, "traced-runner.ts"), JSON.stringify(options)];
  const args = ["-f", "-qq", "-y", "-Y", "-s", "12000", "--seccomp-bpf", "-e", `trace=${tracedCalls}`, "-e", "signal=none"];
  const child = spawn(strace, [...args, "-o", "|exec cat >&3", ...runner], { stdio: ["ignore", "pipe", "inherit", "pipe"] });
  const runs: TracedRun[] = [];
  const did = new Map<number, Traced[]>();
  const reader = new TraceReader();
  let current: Traced[] = [];
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  await Promise.all([
    eachLine(child.stdio[1] as Readable, (line) => runs.push(JSON.parse(line) as TracedRun)),
    eachLine(child.stdio[3] as Readable, (line) => {
      const traced = reader.read(line);
      if (traced?.type === "mark") {
        current = [];
        did.set(traced.index, current);
      } else if (traced !== undefined) current.push(traced);
    }),
  ]);
  expect(await ended).toBe(0);
  return runs.map((run) => ({ run, did: did.get(run.index) ?? [] }));
}

async function eachLine(stream: Readable, use: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream })) use(line);
}

const shells = new Set(["bash", "sh"]);
const writers = new Set(["touch", "mkdir", "rm", "cp", "mv", "tee"]);
function isCovered(argv: readonly string[]): boolean {
  const words = argv.map((value) => ({ kind: "static" as const, value, head: value, print: value }));
  return tracedRules.some(({ pattern }) => coversCommand(parsePattern(pattern), words));
}

/** Actions that no rule allows. The wall's own shell comes first: it ends where the command begins. */
function misdeeds({ run, did }: Told): readonly string[] {
  const wall = did.findLastIndex((one) => one.type === "exec" && one.argv.some((word) => word.includes('exec -- "$@"')));
  const begin = did.findIndex((one, index) => index > wall && one.type === "exec" && isSame(one.argv, run.argv ?? []));
  if (begin === -1) return did.some((one) => one.type === "exec") ? [] : ["nothing was traced"];
  const wrong = did.slice(begin).flatMap((one, index) => {
    if (one.type === "exec") {
      const isOurs = index === 0 && one.argv.includes("--noprofile");
      return isOurs || isCovered(one.argv) ? [] : [`started ${JSON.stringify(one.argv)}`];
    }
    return one.type === "change" && !mayChange(one) ? [`${one.by}: ${one.call} ${one.path}`] : [];
  });
  return [...wrong, ...run.changed.map((name) => `changed ${name}`)];
}

function isSame(argv: readonly string[], wanted: readonly string[]): boolean {
  const [program = "", ...args] = argv;
  const [name = "", ...others] = wanted;
  return (program === name || program.endsWith(`/${name}`)) && JSON.stringify(args) === JSON.stringify(others);
}

/**
 * Writers change what they are told to, and the folder is compared afterwards; devices hold nothing; shells open the files
 * of redirections. What is in `/tmp` is the command's own, and gone afterwards. `git diff` tries to note in the repository what it saw,
 * and goes on where the wall refuses it.
 */
function mayChange({ by, call, path, refused }: Extract<Traced, { type: "change" }>): boolean {
  if (writers.has(by) || path.startsWith("/dev/")) return true;
  if (path.startsWith("/tmp/") && !path.startsWith("/tmp/llm-do-")) return true;
  if (by === "git" && refused && path.endsWith("/work/.git/index.lock")) return true;
  return call === "openat" && shells.has(by) && /\/work\/out\/log\/[a-z]+\.txt$/.test(path);
}

test.skipIf(why !== "")(
  "what is allowed starts and writes only what the rules say",
  async () => {
    const told = await trace({ seed: 40, count: texts, chosen: "allowed" });
    const wrong = told.flatMap((one) => misdeeds(one).map((what) => `${JSON.stringify(one.run.text)}: ${what}`));
    const started = told.flatMap(({ did }) => did.filter(({ type }) => type === "exec"));
    process.stderr.write(
      `${texts} texts: ${told.length} different ones allowed and traced, ${started.length} programs started\n`,
    );
    expect(wrong).toEqual([]);
    expect(told.length).toBeGreaterThan(texts / 5);
  },
  3_600_000,
);

test.skipIf(why !== "")(
  "what is not allowed would have",
  async () => {
    const told = await trace({ seed: 41, count: Math.max(30, Math.min(Math.ceil(texts / 4), 500)), chosen: "refused" });
    const harmful = told.filter((one) => misdeeds(one).length > 0);
    expect(harmful.length).toBeGreaterThan(told.length / 6);
  },
  600_000,
);
