/**
 * Counts the lines of code of `src`: without tests, blank lines and lines that are comments. By room, and with a commit as the
 * argument beside what that commit had.
 *
 *     node scripts/code-lines.ts [COMMIT] [--files]
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8", maxBuffer: 1 << 28 });
const isSource = (file: string) => file.endsWith(".ts") && !file.endsWith(".test.ts");
const isCode = (line: string) => !/^\s*(?:\/\/|\/\*|\*\/|\*\s|\*$|$)/.test(line);
const countLines = (text: string) => text.split("\n").filter(isCode).length;

/** Lines of each file: of the work tree, or of a commit. */
function countFiles(commit: string | undefined): Map<string, number> {
  const list = commit === undefined ? git("ls-files", "src") : git("ls-tree", "-r", "--name-only", commit, "src");
  const read = (file: string) => (commit === undefined ? readFileSync(file, "utf8") : git("show", `${commit}:${file}`));
  return new Map(
    list
      .trim()
      .split("\n")
      .filter(isSource)
      .map((file) => [file, countLines(read(file))]),
  );
}

const roomOf = (file: string) => (file.split("/").length > 2 ? (file.split("/")[1] ?? "") : "(files of src)");

function sumBy(counts: Map<string, number>, key: (file: string) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [file, count] of counts) sums.set(key(file), (sums.get(key(file)) ?? 0) + count);
  return sums;
}

const byFile = process.argv.includes("--files");
const commit = process.argv.slice(2).find((arg) => !arg.startsWith("--"));
const key = byFile ? (file: string) => file : roomOf;
const now = sumBy(countFiles(undefined), key);
const then = commit === undefined ? undefined : sumBy(countFiles(commit), key);

const rows = [...new Set([...now.keys(), ...(then?.keys() ?? [])])]
  .sort()
  .map((name) => [name, then?.get(name) ?? 0, now.get(name) ?? 0] as const);
const total = rows.reduce(([, a, b], [, c, d]) => ["in all", a + c, b + d] as const, ["in all", 0, 0] as readonly [
  string,
  number,
  number,
]);
for (const [name, before, after] of [...rows, total]) {
  const change =
    then === undefined ? "" : `${String(before).padStart(7)} ${`${after >= before ? "+" : ""}${after - before}`.padStart(7)}`;
  console.log(`${String(after).padStart(7)}${change}  ${name}`);
}
