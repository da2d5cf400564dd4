/**
 * Prints the size of `src` without tests: lines of code and their characters by room, the longest functions, and the folders with the most
 * files. Blank lines and lines that are comments do not count. With a commit as the argument, beside what that commit had; with `--files`, by
 * file.
 *
 *     node scripts/code-lines.ts [COMMIT] [--files]
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { type FileSize, functionsOf, sizeOf } from "./code-size.ts";

const longestShown = 15;
const foldersShown = 12;

const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8", maxBuffer: 1 << 28 });
const isSource = (file: string) => file.endsWith(".ts") && !file.endsWith(".test.ts");

/** The texts of the work tree, or of a commit. */
function readSources(commit: string | undefined): ReadonlyMap<string, string> {
  const list = commit === undefined ? git("ls-files", "src") : git("ls-tree", "-r", "--name-only", commit, "src");
  const read = (file: string) => (commit === undefined ? readFileSync(file, "utf8") : git("show", `${commit}:${file}`));
  const files = list.trim().split("\n").filter(isSource);
  return new Map(files.map((file) => [file, read(file)]));
}

const roomOf = (file: string) => (file.split("/").length > 2 ? (file.split("/")[1] ?? "") : "(files of src)");

function sumBy(texts: ReadonlyMap<string, string>, key: (file: string) => string): Map<string, FileSize> {
  const sums = new Map<string, FileSize>();
  for (const [file, text] of texts) {
    const { lines, characters } = sums.get(key(file)) ?? nothing;
    const size = sizeOf(text);
    sums.set(key(file), { lines: lines + size.lines, characters: characters + size.characters });
  }
  return sums;
}

const nothing: FileSize = { lines: 0, characters: 0 };
const signed = (number: number) => `${number >= 0 ? "+" : ""}${number}`;

function printSizes(now: ReadonlyMap<string, FileSize>, then: ReadonlyMap<string, FileSize> | undefined): void {
  const total = (sizes: ReadonlyMap<string, FileSize>) =>
    [...sizes.values()].reduce((a, b) => ({ lines: a.lines + b.lines, characters: a.characters + b.characters }), nothing);
  const rows = [...new Set([...now.keys(), ...(then?.keys() ?? [])])].sort();
  const all = [
    ...rows.map((name) => [name, now.get(name) ?? nothing, then?.get(name) ?? nothing] as const),
    ["in all", total(now), total(then ?? new Map())] as const,
  ];
  console.log(`  lines${then ? "  before  change" : ""}  characters${then ? "    change" : ""}`);
  for (const [name, size, before] of all) {
    const lines = then ? `${String(before.lines).padStart(8)}${signed(size.lines - before.lines).padStart(8)}` : "";
    const characters = then ? signed(size.characters - before.characters).padStart(10) : "";
    console.log(`${String(size.lines).padStart(7)}${lines}${String(size.characters).padStart(12)}${characters}  ${name}`);
  }
}

function printFunctions(texts: ReadonlyMap<string, string>): void {
  const functions = [...texts].flatMap(([file, text]) => functionsOf(file, text)).sort((a, b) => b.lines - a.lines);
  const over = (lines: number) => functions.filter((one) => one.lines > lines).length;
  console.log(`\nlongest of ${functions.length} functions (${over(30)} over 30 lines, ${over(50)} over 50)`);
  for (const { name, file, line, lines } of functions.slice(0, longestShown))
    console.log(`${String(lines).padStart(7)}  ${name}  ${file}:${line}`);
}

function printFolders(texts: ReadonlyMap<string, string>): void {
  const folders = [...Map.groupBy(texts.keys(), (file) => dirname(file))].sort(([, a], [, b]) => b.length - a.length);
  console.log("\nfolders by files of code, without their subfolders");
  for (const [folder, files] of folders.slice(0, foldersShown)) console.log(`${String(files.length).padStart(7)}  ${folder}`);
}

const commit = process.argv.slice(2).find((arg) => !arg.startsWith("--"));
const key = process.argv.includes("--files") ? (file: string) => file : roomOf;
const texts = readSources(undefined);
printSizes(sumBy(texts, key), commit === undefined ? undefined : sumBy(readSources(commit), key));
printFunctions(texts);
printFolders(texts);
