import type { Folder, Folders, ShellWord } from "./plan.ts";
import { quoteWord } from "./quote.ts";

/** Names that globs stand for, by `expansionKey`. They take the globs' place, so that the judged command is the one that runs. */
export type Expansions = ReadonlyMap<string, readonly string[]>;

export function expansionKey(folder: Folder, pattern: string): string {
  return JSON.stringify([folder, pattern]);
}

export function expandWords(words: readonly ShellWord[], folders: Folders, expansions: Expansions): readonly ShellWord[] {
  const [folder, ...others] = folders ?? [];
  if (expansions.size === 0 || folder === undefined || others.length > 0) return words;
  return words.flatMap((word, index) => {
    const names = index > 0 && isExpandable(word) ? expansions.get(expansionKey(folder, word.value)) : undefined;
    return names?.map((value) => ({ kind: "static" as const, value, head: value, print: quoteWord(value) })) ?? [word];
  });
}

/** Paths by `*` and `?` alone: brackets mean what the locale says. Of what begins with a dot, only names behind a glob can be. */
export function isExpandable({ kind, value, print = "" }: ShellWord): boolean {
  if (kind !== "glob" || !/^(?:[*?]|'(?:(?!['*?[\\])[ -~])*')+$/.test(print)) return false;
  const components = value.split("/");
  const first = components.findIndex((component) => /[*?]/.test(component));
  const behind = components.slice(first);
  return !behind.slice(0, -1).includes("") && !behind.some((component) => /^(?:\.\.?|\..*[*?].*)$/.test(component));
}
