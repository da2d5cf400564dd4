// What a look costs beside bare `bwrap` with exactly the same mounts, in interleaved rounds: `node bench/look.ts [rounds]`.
import childProcess, { type SpawnOptions, type spawn } from "node:child_process";
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printRow } from "./timing.ts";

/** The arguments of the last `bwrap`, and what was written to its pipes, by descriptor. */
let last: { args: readonly string[]; file: string; written: Map<number, Buffer>; environment: NodeJS.ProcessEnv } | undefined;
const original = childProcess.spawn;
childProcess.spawn = ((file: string, args: readonly string[], options: SpawnOptions) => {
  const child = original(file, args, options);
  if (!args.includes("--args")) return child;
  const written = new Map<number, Buffer>();
  last = { args, file, written, environment: options.env ?? {} };
  for (const [index, stream] of child.stdio.entries()) {
    if (!stream || !("end" in stream)) continue;
    const end = stream.end.bind(stream) as (bytes: Buffer) => typeof stream;
    const keep = (bytes: Buffer) => {
      written.set(index, bytes);
      return end(bytes);
    };
    Object.assign(stream, { end: keep });
  }
  return child;
}) as typeof spawn;
syncBuiltinESMExports();
const { createNodeHost } = await import("../src/host/node-host.ts");

const rounds = Number(process.argv[2] ?? 100);
const host = createNodeHost({ wall: true });
console.log(JSON.stringify(await host.commands.isolation()));
printRow("command", "ours, ms: median (least)", "bare: median (least)", "ratio of medians", "of least", "of processor time");
printRow("---", "---", "---", "---", "---", "---");
await compare("`true`, an empty folder", ["true"], 0);
await compare("`true`, 500 folders, each with a file", ["true"], 500, "notes.txt");
await compare("`true`, 500 folders, each with a protected name", ["true"], 500);
await compare("`wc`", ["wc", "-l", "part-0/package.json"], 1);

async function compare(label: string, argv: readonly string[], folders: number, file = "package.json"): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
  for (let index = 0; index < folders; index++) {
    mkdirSync(join(root, `part-${index}`));
    writeFileSync(join(root, `part-${index}`, file), "{}");
  }
  const scopes = await host.openScopes([{ name: "s", root, mode: "rw" }]);
  const limits = { timeoutMilliseconds: 60_000, maxOutputBytes: 50_000, signal: new AbortController().signal };
  const request = { command: { type: "argv", argv } as const, scopes, cwd: scopes.resolve("s"), network: false, ...limits };
  const ours = () => host.commands.run({ ...request, isolationRequired: true, rights: { writes: [], reads: [] } });
  for (let warm = 0; warm < 5; warm++) await ours();
  const bare = toBare(argv);
  const figures = { ours: [] as number[], bare: [] as number[] };
  const processor = { ours: 0, bare: 0 };
  for (let round = 0; round < rounds; round++) {
    for (const [name, action] of round % 2 === 0
      ? ([
          ["ours", ours],
          ["bare", bare],
        ] as const)
      : ([
          ["bare", bare],
          ["ours", ours],
        ] as const)) {
      const [began, used] = [performance.now(), processorTime()];
      await action();
      figures[name].push(performance.now() - began);
      processor[name] += processorTime() - used;
    }
  }
  const [a, b] = [figures.ours, figures.bare].map((times) => times.toSorted((x, y) => x - y));
  const at = (times: readonly number[] = [], part: number) => times[Math.floor(times.length * part)] ?? 0;
  const show = (times?: readonly number[]) => `${at(times, 0.5).toFixed(1)} (${at(times, 0).toFixed(1)})`;
  printRow(label, show(a), show(b), at(a, 0.5) / at(b, 0.5), at(a, 0) / at(b, 0), processor.ours / processor.bare);
  await scopes.close();
  rmSync(root, { recursive: true });
}

/** Starts `bwrap` as it was started last, with its mounts and filter, but with the command alone in it. */
function toBare(argv: readonly string[]): () => Promise<void> {
  if (last === undefined) throw new Error("no bwrap was started");
  const { file, args, written, environment } = last;
  const options =
    written
      .get(Number(args[args.indexOf("--args") + 1]))
      ?.toString()
      .split("\0")
      .slice(0, -1) ?? [];
  return async () => {
    const opened: number[] = [];
    const bytes: Buffer[] = [];
    const stdio: (number | "ignore" | "pipe")[] = ["ignore", "pipe", "pipe"];
    const own = options.flatMap((option, index): readonly string[] => {
      if (option === "--json-status-fd" || options[index - 1] === "--json-status-fd") return [];
      const before = options[index - 1] ?? "";
      if (/^--(?:ro-)?bind-fd$/.test(before)) {
        const folder = openSync(options[index + 1] ?? "", constants.O_RDONLY | constants.O_DIRECTORY);
        opened.push(folder);
        return [String(stdio.push(folder) - 1)];
      }
      if (before !== "--seccomp" && !before.endsWith("-data")) return [option];
      bytes.push(written.get(Number(option)) ?? Buffer.alloc(0));
      return [String(stdio.push("pipe") - 1)];
    });
    const list = stdio.push("pipe") - 1;
    bytes.push(Buffer.from(own.map((option) => `${option}\0`).join("")));
    const child = original(file, ["--args", String(list), "--", ...argv], { cwd: "/", env: environment, detached: true, stdio });
    for (const stream of child.stdio.slice(3))
      if (stream && "end" in stream) stream.on("error", () => undefined).end(bytes.shift());
    child.stdout?.resume();
    child.stderr?.resume();
    for (const folder of opened) closeSync(folder);
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`bare bwrap ended with ${code}`);
  };
}

/** Milliseconds of this process and the children that it has waited for. */
function processorTime(): number {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15)
    .map(Number);
  return fields.reduce((sum, ticks) => sum + ticks * 10, 0);
}
