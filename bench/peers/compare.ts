// Compares llm-do with other agent libraries: `npm run bench -- [--write] [--seconds N] [CASES]`, such as `npm run bench -- turns-20,text-10000`.
// In each round every library does the case once, in another order; what counts is a library's time beside that of the plain `fetch` loop in the
// same round. Prints Markdown, and writes it and a plot to `results/`; with `--write` also to `docs/performance.md` and the plot beside it.
import { execFileSync, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Arm, type Case, modelOf, parseCase } from "./arm.ts";
import { createPlace, enterCommand, enterScript, measureMemory, removePlace } from "./fresh.ts";
import { type Entrant, enter, measure } from "./measure.ts";
import { plot } from "./plot.ts";
import { type Measured, type Memory, type Parts, reportOf, summaryOf } from "./report.ts";

/** Seconds that each case takes, see `measure`. */
const seconds: Readonly<Record<string, number>> = {
  "turns-20": 25,
  "turns-100": 30,
  "turns-400": 15,
  "effects-20": 10,
  "calls-50": 40,
  "children-100": 12,
  "children-1000": 12,
  "text-10000": 12,
  "pdf-3": 10,
  "start-0": 60,
  "start-1": 60,
};
const ofMemory = ["turns-400", "children-1000", "text-10000", "pdf-3"];
/** Benches without peers, described in `bench/README.md`. */
const parts = ["compile", "files", "commands", "journal"];
const files = ["fetch", "http", "provider", "ai-sdk", "pi", "openai-agents", "langgraph", "mastra", "llm-do"];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean", default: false }, seconds: { type: "string" } },
});
const wanted = (positionals[0]?.split(",") ?? Object.keys(seconds)).map(parseCase);

const here = import.meta.dirname;
const server = fork(join(here, "server.ts"));
const [origin] = await once(server, "message");
// Warnings of a library take time, which counts; they are not printed.
console.warn = () => undefined;
const place = createPlace("main");
Object.assign(process.env, place.variables);

const arms = new Map<string, Arm>();
for (const file of files) arms.set(file, (await import(join(place.folder, `arms/${file}.js`))).arm);
const entrants: Entrant[] = [];
for (const arm of arms.values()) entrants.push(await enter(arm, `${origin}/v1`));
entrants.push(await enter((await import(join(place.folder, "arms/llm-do.js"))).withoutJournal, `${origin}/v1`));
const start = { place: createPlace("start"), server, baseUrl: `${origin}/timed/v1` };
const starters = [...[...arms].map(([file, arm]) => enterScript(arm, file, start)), enterCommand(start)];

const measured: Measured[] = [];
for (const one of wanted) {
  const allowed = Number(values.seconds ?? seconds[modelOf(one)] ?? 10);
  const rows = await measure(one.kind === "start" ? starters : entrants, one, allowed);
  measured.push({ one, rows });
  console.error(`${modelOf(one)}: ${rows[0]?.walls.length} rounds`);
}
const memory: Memory[] = [];
const alone = { place: createPlace("memory"), baseUrl: `${origin}/v1` };
for (const one of wanted.filter((each) => ofMemory.includes(modelOf(each)))) memory.push({ one, megabytes: await memoryOf(one) });

async function memoryOf(one: Case): Promise<ReadonlyMap<Arm, number>> {
  const found = new Map<Arm, number>();
  for (const [file, arm] of arms) {
    if (measured.some((each) => each.one === one && each.rows.some((row) => row.arm === arm && row.failure !== undefined)))
      continue;
    const megabytes = measureMemory(file, one, alone).catch(({ message }) => console.error(message));
    found.set(arm, (await megabytes) ?? Number.NaN);
  }
  return found;
}

const tables: Parts = positionals.length > 0 ? [] : parts.map((name) => [name, tableOf(name)]);

/** The table that a bench without peers prints. */
function tableOf(name: string): string {
  const { stdout, status } = spawnSync(process.execPath, [join(here, `../${name}.ts`)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 120_000,
  });
  const lines = stdout.split("\n").filter((line) => line.startsWith("|"));
  if (status !== 0) lines.push("", `\`bench/${name}.ts\` did not come to its end.`);
  return lines.join("\n");
}

const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const versions = Object.entries<string>(dependencies).filter(([, version]) => !version.startsWith("file:"));
const [{ model } = { model: "" }, { length }] = [cpus()[0], cpus()];
const head = [
  `Measured on ${new Date().toISOString().slice(0, 10)} with Node ${process.versions.node} on ${length} cores (${model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB.`,
  `Versions: ${versions.map((pair) => pair.join(" ")).join(", ")}.`,
].join(" ");
const summary = summaryOf(head, measured, memory, tables);
const picture = plot(measured);
mkdirSync(join(here, "results"), { recursive: true });
writeFileSync(join(here, "results/compare.md"), reportOf(head, measured, memory, tables));
writeFileSync(join(here, "results/compare.svg"), picture);
console.log(summary);
if (values.write) {
  const root = join(here, "../..");
  const page = join(root, "docs/performance.md");
  const [before = ""] = readFileSync(page, "utf8").split(/^## Figures$/m);
  writeFileSync(page, `${before}## Figures\n\n${summary}`);
  writeFileSync(join(root, "docs/performance.svg"), picture);
  execFileSync(join(root, "node_modules/.bin/biome"), ["format", "--write", page], { cwd: root, stdio: "inherit" });
}
for (const each of [place, start.place, alone.place]) removePlace(each);
process.exit();
