import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Effects } from "./play-line.ts";

const spelling: Readonly<Record<string, string>> = {
  "⏎": "\n",
  "⇥": "\t",
  "␍": "\r",
  "␀": "\u0000",
  "⍽": "\u00a0",
  "⌑": "\u200b",
};

/** The rows of a file in `lines/`, without those that begin with `##`. Marks stand for line ends, tabs and other blanks. */
export function readRows(file: string): readonly string[] {
  return readAll(file).filter((row) => !row.startsWith("##"));
}

function readAll(file: string): readonly string[] {
  const rows = readFileSync(join(import.meta.dirname, "lines", file), "utf8").split("\n");
  return rows.filter((row) => row.trim() !== "").map((row) => row.replaceAll(/[⏎⇥␍␀⍽⌑]/gu, (mark) => spelling[mark] ?? mark));
}

/** Each stands for a kind of place: scopes by their rights, a protected name, links, what lies outside, no place at all. */
const writtenPlaces = [
  "canary",
  "docs/canary",
  "out/canary",
  "package.json",
  "out/to-outside/file",
  ".git/config",
  ".git/remotes/x",
  "fifo",
];
const readPlaces = [
  "secret/key.txt",
  ".env",
  "../outside/file",
  "src/to-secret/key.txt",
  "out/notes/b.txt",
  ".git/config",
  ".hg/hgrc",
];

/** The new lines: each way to write or to read with each place. */
export function readNewLines(): readonly string[] {
  const fill = (file: string, mark: string, places: readonly string[]) =>
    readRows(file).flatMap((row) => (row.includes(mark) ? places.map((place) => row.replaceAll(mark, place)) : [row]));
  return [...new Set([...fill("writing.txt", "{T}", writtenPlaces), ...fill("reading.txt", "{S}", readPlaces)])];
}

export interface LineWithEffects extends Effects {
  readonly command: string;
}

/** Lines with the effects that each needs: `everyday.txt`, `programs.txt`. */
export function readLinesWithEffects(file: string): readonly LineWithEffects[] {
  let effects: Effects = {};
  return readAll(file).flatMap((row) => {
    const heading = /^## (\{.*)/.exec(row)?.[1];
    if (heading !== undefined) effects = JSON.parse(heading) as Effects;
    return row.startsWith("##") ? [] : [{ command: row, ...effects }];
  });
}
