// Compares this commit with an older one: `node bench/compare-commit.ts COMMIT [ROUNDS [BENCH…]]`. Checks both out into a temporary folder, installs and
// builds them, and runs the older commit's benches on both, in turns, with this commit's clock; where one does not run on this commit, whose
// files have moved, its own of that name. Prints the least of each figure before and after, with their ratio.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { printRow } from "./timing.ts";

const [commit = "HEAD~1", rounds = "3", ...wanted] = process.argv.slice(2);
const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
/** Milliseconds after which a bench is ended: what it has printed by then counts. */
const mostOfOne = 90_000;
const environment = { ...process.env, PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter) };

/** Checks a commit out, installed and built. */
function createTree(name: string, of: string): string {
  const tree = join(folder, name);
  mkdirSync(tree);
  const archive = execFileSync("git", ["-C", root, "archive", of], { maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x", "-C", tree], { input: archive });
  const options = { cwd: tree, env: environment, stdio: "ignore" } as const;
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], options);
  execFileSync("npm", ["run", "build"], options);
  return tree;
}

/** The figures that a bench prints: the numbers of its tables' rows, and those of texts such as `alone: 12.6 ms`. */
function figuresOf(output: string): ReadonlyMap<string, number> {
  const figures = new Map<string, number>();
  let heads: readonly string[] = [];
  for (const line of output.split("\n")) {
    const [label = "", ...cells] = line.startsWith("|")
      ? line
          .slice(1, -1)
          .split("|")
          .map((cell) => cell.trim())
      : [];
    const isHead = cells.length > 0 && !cells.some((cell) => /^[\d.]+$|^-+:?$/.test(cell));
    if (isHead) heads = cells;
    for (const [index, cell] of cells.entries())
      if (/^[\d.]+$/.test(cell)) figures.set(`${label}: ${heads[index]}`, Number(cell));
    for (const [, what = "", value] of line.matchAll(/([^;:|]+): ([\d.]+) ms/g)) figures.set(what.trim(), Number(value));
  }
  return figures;
}

/**
 * Runs a bench of the older commit in a tree, or else the tree's own, and keeps the least of each figure. Returns false where neither came to
 * its end.
 */
function runBench(tree: string, name: string, least: Map<string, number>, of = "bench-before"): boolean {
  const options = { cwd: tree, env: environment, encoding: "utf8", timeout: mostOfOne } as const;
  const { stdout, status, stderr } = spawnSync(process.execPath, [join(tree, of, name)], options);
  if ((status ?? 0) !== 0 && of !== "bench" && existsSync(join(tree, "bench", name))) return runBench(tree, name, least, "bench");
  for (const [what, value] of figuresOf(stdout)) least.set(what, Math.min(value, least.get(what) ?? Number.POSITIVE_INFINITY));
  if (status === 0) return true;
  const end = status === null ? `takes more than ${mostOfOne / 1000} s` : `ended with ${status}`;
  console.error(`${name} in ${basename(tree)} ${end}: ${stderr.slice(-500)}`);
  return false;
}

/** Runs a bench in both trees in turns, and no more once one of them does not come to its end. Returns the figures of each. */
function runRounds(trees: readonly string[], name: string): readonly ReadonlyMap<string, number>[] {
  const found = trees.map((tree) => ({ tree, least: new Map<string, number>() }));
  for (let round = 0; round < Number(rounds); round++) {
    const ends = (round % 2 === 0 ? found : found.toReversed()).map(({ tree, least }) => runBench(tree, name, least));
    if (ends.includes(false)) break;
  }
  return found.map(({ least }) => least);
}

try {
  const trees = [createTree("before", commit), createTree("after", "HEAD")] as const;
  const benches = globSync("*.ts", { cwd: join(trees[0], "bench") }).filter(
    (name) => !/^(timing|compare-commit)/.test(name) && (wanted.length === 0 || wanted.includes(basename(name, ".ts"))),
  );
  // Depth counts: the benches import `../src`.
  for (const tree of trees) {
    cpSync(join(trees[0], "bench"), join(tree, "bench-before"), { recursive: true });
    cpSync(join(import.meta.dirname, "timing.ts"), join(tree, "bench-before/timing.ts"));
  }
  printRow("figure", "before, ms", "after, ms", "after / before");
  printRow("---", "---", "---", "---");
  for (const name of benches.sort()) {
    const [earlier, later] = runRounds(trees, name);
    for (const [what, before] of earlier ?? []) {
      const after = later?.get(what) ?? Number.NaN;
      printRow(`${basename(name, ".ts")}, ${what.replace(/, ms$/, "")}`, before, after, after / before);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
