import { protectionOfName } from "../../../host/protected-names.ts";
import type { Protection, ScopeDeclaration } from "../../../host/scopes.ts";
import { followPath } from "../parse/folders.ts";
import type { Folder, ShellWord } from "../parse/plan.ts";

/** Facts of a path, found when the call was prepared. */
export interface PathFact {
  readonly type: "file" | "directory" | "missing" | "link" | "other";
  /** The scope whose rights hold there. */
  readonly scope: ScopeDeclaration;
  readonly protection: Protection | undefined;
  /** Changes when something else takes its place. */
  readonly identity: string | null;
  /**
   * Target of a redirection: the path in the deepest scope's terms, if that scope's mode and suffixes let a file be
   * written there.
   */
  readonly writable?: string;
}

/** By components below the root of the scope that the call runs in, joined by slashes. */
export type PathTable = ReadonlyMap<string, PathFact>;

export function pathKey(components: readonly string[]): string {
  return components.join("/");
}

/** Number of characters of an option in which the beginning of a path is looked for. */
const mostOption = 200;

/** True where a path could begin among letters too far back to be found. */
export function isTooLong({ value }: Pick<ShellWord, "value">): boolean {
  return /^-[A-Za-z0-9]/.test(value) && value.length > mostOption;
}

/** Every text in a word that a program could take for a path: the word, and what stands between `=`, `:`, `@` and the like. */
export function pathsIn({ value }: Pick<ShellWord, "value">): readonly string[] {
  const found = new Set([value, ...value.split(/[=:@,<>?#()]/)]);
  if (value.startsWith("-")) for (let at = 2; at < Math.min(value.length, mostOption); at++) found.add(value.slice(at));
  found.delete("");
  return [...found];
}

/** The paths of a word that are looked up on disk: itself, or what an option is given. `ended`: it is behind `--`. */
export function lookedUp({ value }: Pick<ShellWord, "value">, ended = false): readonly string[] {
  if (!value.startsWith("-")) return [value];
  return [...(ended ? [value] : []), ...valuesOfOption(value)];
}

/** True where a path in a word counts only if something is there: `-rf` is no path, unless a file is called `f`. */
export function isGuess({ value }: Pick<ShellWord, "value">, path: string): boolean {
  return value.startsWith("-") && !value.endsWith(`=${path}`) && path !== value && !/[/.~]/.test(path);
}

/** Words with whether they stand behind `--`. */
export function withEnds(words: readonly ShellWord[]): readonly (readonly [ShellWord, boolean])[] {
  const end = words.findIndex(({ value }) => value === "--");
  return words.map((word, index) => [word, end !== -1 && index > end] as const);
}

/**
 * True where a word leads elsewhere, if a program takes a piece of it for a path (`a:/etc/passwd`), for a file of further words
 * (`@file`), or for a pattern of git (`:(top)`).
 */
export function leadsElsewhere(word: Pick<ShellWord, "value">): boolean {
  const { value } = word;
  if (isTooLong(word) || /(?:^|=)[@:]/.test(value)) return true;
  const [name = ""] = value.split("=", 1);
  const isShort = value.startsWith("-") && !value.startsWith("--");
  // `-abf/etc/x`: it is not known which letter takes the rest. `-I./x` is plain.
  if (isShort && name.includes("/") && !name.slice(2).startsWith("./")) return true;
  const pieces = value.split(/[=:@,<>]/).slice(1);
  return pieces.some((piece) => piece.startsWith("/") || piece.startsWith("~") || piece.split("/").includes(".."));
}

/** Parts of an option that could be paths: behind its `=`, and behind one of the letters that it begins with. */
function valuesOfOption(value: string): readonly string[] {
  const behind = value.includes("=") ? [value.slice(value.indexOf("=") + 1)] : [];
  if (value.startsWith("--")) return behind;
  const letters = /^[A-Za-z0-9]*/.exec(value.slice(1))?.[0].length ?? 0;
  const last = Math.min(Math.max(letters + 1, 2), value.length - 1, mostOption);
  return [...behind, ...Array.from({ length: Math.max(last - 1, 0) }, (_, index) => value.slice(index + 2))];
}

export type Where =
  | { readonly type: "inside"; readonly components: readonly string[]; readonly fact: PathFact | undefined }
  | { readonly type: "outside" };

/** Follows a path from a folder. A glob leads to the folder that it looks in. */
export function whereIs(table: PathTable, folder: Folder, path: string): Where {
  const components = followPath(folder, path);
  return components === undefined ? { type: "outside" } : { type: "inside", components, fact: table.get(pathKey(components)) };
}

/**
 * The part of a glob before the first component that names nothing exactly. The glob itself where it leads back with `..` from there:
 * it can mean any place, and `followPath` follows it nowhere.
 */
export function folderOfGlob(pattern: string): string {
  const components = pattern.split("/");
  const end = components.findIndex((component) => /[*?[]/.test(component));
  if (end !== -1 && components.includes("..", end)) return pattern;
  return components.slice(0, end === -1 ? components.length : end).join("/") || (pattern.startsWith("/") ? "/" : ".");
}

/** True where a glob can mean a name that begins as options do. */
export function isLeading({ head }: ShellWord): boolean {
  return head === "" || head.startsWith("-");
}

/** Protection of a path by its name alone, wherever it leads. `name` is the component that causes it. */
export interface NamedProtection {
  readonly protection: Protection;
  readonly name: string;
}

export function protectionOfPath(folder: Folder, path: string): NamedProtection | undefined {
  const names = path.split("/").filter((name) => name !== "" && name !== "." && name !== "..");
  const below = path.startsWith("/") ? names : [...folder, ...names];
  const protection = protectionOfName(below);
  if (protection === undefined) return undefined;
  const end = below.findIndex((_, index) => protectionOfName(below.slice(0, index + 1)) !== undefined);
  return { protection, name: below[end] ?? "" };
}
