// Compiles five workers that reach one another, alone and among 2,000 others, and fails where the others cost anything to speak
// of. Run it with: node bench/compile.ts

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../src/llm-do.ts";

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

async function measure(target: string): Promise<number> {
  const started = performance.now();
  const { program, diagnostics } = await compile({ target, model: "anthropic:m", trust: true });
  if (program?.workers.size !== 5) throw new Error(`not the program: ${diagnostics.map(({ message }) => message).join("; ")}`);
  return performance.now() - started;
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const alone = createProgram(0);
const among = createProgram(2000);
try {
  const first = await measure(alone);
  const times: { readonly alone: number[]; readonly among: number[] } = { alone: [], among: [] };
  for (let round = 0; round < rounds; round++) {
    times.alone.push(await measure(alone));
    times.among.push(await measure(among));
  }
  const [small, large] = [medianOf(times.alone), medianOf(times.among)];
  const ratio = large / small;
  console.log(`the first compilation of the process: ${first.toFixed(1)} ms`);
  console.log(`5 workers alone: ${small.toFixed(2)} ms; among 2,000 others: ${large.toFixed(2)} ms; ratio ${ratio.toFixed(2)}`);
  if (ratio > allowedRatio) process.exitCode = 1;
} finally {
  for (const folder of [alone, among]) rmSync(folder, { recursive: true, force: true });
}
