// Compares llm-do with other agent libraries: `npm run bench [CASES] [ROUNDS]`, such as `npm run bench turns-20,text-10000 30`. In each round every
// library does the case once, in another order; what counts is a library's time beside that of the plain `fetch` loop in the same round. Prints
// Markdown, and writes it and a plot to `results/`.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Arm, Case } from "./arm.ts";
import { ours } from "./arms-ours.ts";
import { aiSdk, langGraph, mastra, openaiAgents, pi } from "./arms-peers.ts";
import { fetchLoop, httpLoop, providerLoop } from "./arms-plain.ts";
import { plot } from "./plot.ts";

const everyCase = "turns-20:40,turns-100:10,turns-400:4,calls-50:40,children-100:10,children-1000:3,text-10000:10";
const arms = [fetchLoop, httpLoop, providerLoop, aiSdk, pi, openaiAgents, langGraph, mastra, ...ours];

const { positionals } = parseArgs({ allowPositionals: true });
const [wanted = everyCase, roundsOfAll] = positionals;

const server = fork(join(import.meta.dirname, "server.ts"));
const [baseUrl] = await once(server, "message");
// Warnings of a library take time, which counts; they are not printed.
console.warn = () => undefined;
const runners = new Map<Arm, Awaited<ReturnType<Arm["prepare"]>>>();
for (const arm of arms) runners.set(arm, await arm.prepare(baseUrl));

interface Row {
  readonly name: string;
  readonly median: number;
  /** The tenth percentile of a round's ratio to the `fetch` loop, and to the AI SDK. */
  readonly toFetch: number;
  readonly toAiSdk: number;
  readonly cpuToFetch: number;
}

async function measure(one: Case, rounds: number): Promise<readonly Row[]> {
  const taking = arms.filter(({ kinds }) => kinds.includes(one.kind));
  const walls = new Map(taking.map((arm) => [arm, [] as number[]]));
  const cpu = new Map(taking.map((arm) => [arm, [] as number[]]));
  const model = `${one.kind}-${one.count}`;
  for (let round = -1; round < rounds; round++) {
    for (const [index] of taking.entries()) {
      const arm = taking[(index + round + 1) % taking.length] as Arm;
      const before = process.cpuUsage();
      const began = performance.now();
      const text = await runners.get(arm)?.(model, one);
      const took = performance.now() - began;
      const { user, system } = process.cpuUsage(before);
      if (one.kind === "text" ? text?.length !== 5 * one.count : text !== "done")
        throw new Error(`${arm.name} gave ${JSON.stringify(text?.slice(0, 80))} for ${model}`);
      // The first round warms up.
      if (round < 0) continue;
      walls.get(arm)?.push(took);
      cpu.get(arm)?.push((user + system) / 1000);
    }
  }
  return taking.map((arm) => ({
    name: arm.name,
    median: quantile(walls.get(arm) ?? [], 0.5),
    toFetch: quantile(ratios(walls, arm, fetchLoop), 0.1),
    toAiSdk: quantile(ratios(walls, arm, aiSdk), 0.1),
    cpuToFetch: quantile(ratios(cpu, arm, fetchLoop), 0.1),
  }));
}

function ratios(times: ReadonlyMap<Arm, readonly number[]>, arm: Arm, beside: Arm): readonly number[] {
  const others = times.get(beside) ?? [];
  return (times.get(arm) ?? []).map((time, round) => time / (others[round] ?? Number.NaN));
}

function quantile(values: readonly number[], at: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * at)] ?? Number.NaN;
}

const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8"));
const versions = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
const lines = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores. ${versions.join(", ")}.`,
];
const charts: Parameters<typeof plot>[0][number][] = [];
for (const named of wanted.split(",")) {
  const [model = "", ownRounds] = named.split(":");
  const [kind, count] = model.split("-");
  const rows = await measure({ kind: kind as Case["kind"], count: Number(count) }, Number(roundsOfAll ?? ownRounds ?? 10));
  const table = rows.map(
    ({ name, median, toFetch, toAiSdk, cpuToFetch }) =>
      `| ${name} | ${median.toFixed(1)} | ${toFetch.toFixed(2)} | ${toAiSdk.toFixed(2)} | ${cpuToFetch.toFixed(2)} |`,
  );
  const head = ["| library | ms, median | × fetch | × AI SDK | CPU × fetch |", "| --- | ---: | ---: | ---: | ---: |"];
  lines.push("", `### ${model}`, "", ...head, ...table);
  console.log(lines.slice(-table.length - 4).join("\n"));
  charts.push({ title: model, bars: rows.map(({ name, toFetch }) => ({ name, value: toFetch })) });
}
mkdirSync(join(import.meta.dirname, "results"), { recursive: true });
writeFileSync(join(import.meta.dirname, "results/compare.md"), `${lines.join("\n")}\n`);
writeFileSync(join(import.meta.dirname, "results/compare.svg"), plot(charts));
process.exit();
