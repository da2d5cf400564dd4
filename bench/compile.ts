// Compiles five workers that reach one another, alone and among 2,000 others, and fails where the others cost much; then programs of up to
// 1,000 workers that are all reached. Run it with: node bench/compile.ts

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../src/front/llm-do.ts";
import { printRow } from "./timing.ts";

const rounds = 60;
const allowedRatio = 1.5;

const reachable: Readonly<Record<string, string>> = {
  "main.worker": worker("toolsets: { a: {}, b: {}, greet: {} }"),
  "a.worker": worker("description: a\ninput: { company: string, tags?(array): string }\ntoolsets: { c: {} }"),
  "b.worker": worker("description: b\nsandbox: { paths: { here: { root: . } } }\ntoolsets: { d: {}, filesystem: {} }"),
  "workers/c.worker": worker("description: c\noutput: { verdict(enum): [go, pass] }\ntoolsets: { a: {} }"),
  "workers/d/worker.worker": worker("description: d\nlimits: { turns: 3 }"),
  "tools.ts":
    'import { tool } from "llm-do";\nexport const greet = tool({ input: { type: "object" }, calls: ["a"], run: () => 1 });\n',
};

function worker(frontmatter: string): string {
  return `---\n${frontmatter}\n---\nYou help with ${frontmatter.includes("company") ? "{{ company }}" : "it"}.\n`;
}

function createProgram(others: number): string {
  const folder = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
  mkdirSync(join(folder, "workers/d"), { recursive: true });
  for (const [path, text] of Object.entries(reachable)) writeFileSync(join(folder, path), text);
  for (let index = 0; index < others; index++) {
    const path = index % 2 === 0 ? `unused_${index}.worker` : `workers/unused_${index}.worker`;
    writeFileSync(join(folder, path), worker(`description: unused ${index}\ntoolsets: { main: {} }`));
  }
  return folder;
}

async function measure(target: string, workers: number): Promise<number> {
  const started = performance.now();
  const { program, diagnostics } = await compile({ target, model: "anthropic:m", trust: true });
  if (program?.workers.size !== workers)
    throw new Error(`not the program: ${diagnostics.map(({ message }) => message).join("; ")}`);
  return performance.now() - started;
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** A program whose entry reaches so many workers, each with two schemas. */
function createReachable(count: number): string {
  const folder = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
  const names = Array.from({ length: count - 1 }, (_, index) => `w${index}`);
  writeFileSync(join(folder, "main.worker"), worker(`toolsets: { ${names.map((name) => `${name}: {}`).join(", ")} }`));
  for (const [index, name] of names.entries()) {
    const schemas = `input: { company_${index}: string, tags?(array): string }\noutput: { verdict(enum): [go, pass], note_${index}: string }`;
    writeFileSync(join(folder, `${name}.worker`), worker(`description: d\n${schemas}`).replace("{{ company }}", "it"));
  }
  return folder;
}

const alone = createProgram(0);
const among = createProgram(2000);
const folders = [alone, among];
try {
  const first = await measure(alone, 5);
  const times: { readonly alone: number[]; readonly among: number[] } = { alone: [], among: [] };
  for (let round = 0; round < rounds; round++) {
    times.alone.push(await measure(alone, 5));
    times.among.push(await measure(among, 5));
  }
  const [small, large] = [medianOf(times.alone), medianOf(times.among)];
  printRow("workers", "ms", "ms a worker");
  printRow("---", "---", "---");
  printRow("5, the first compilation of the process", first, first / 5);
  printRow("5, median", small, small / 5);
  printRow(`5 among 2,000 others, median (${(large / small).toFixed(2)} times as long)`, large, large / 5);
  for (const count of [50, 200, 1000]) {
    const target = createReachable(count);
    folders.push(target);
    const took: number[] = [];
    for (let round = 0; round < 3; round++) took.push(await measure(target, count));
    printRow(`${count.toLocaleString("en-US")} reachable, least of 3`, Math.min(...took), Math.min(...took) / count);
  }
  if (large / small > allowedRatio) process.exitCode = 1;
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
