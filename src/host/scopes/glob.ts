import { getOrMake } from "../../util/get-or-make.ts";
import { ScopeError } from "./scopes.ts";

/** The positions of a walk in a pattern, passed from a directory to its entries. Empty: nothing below can match. */
export type GlobState = ReadonlySet<number>;

/**
 * A pattern of paths: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}` within a name, `**` for any number of folders. Wildcards do
 * not match a leading dot. Names are matched one by one while walking, without backtracking over the whole path: no pattern takes
 * long, and folders that cannot match are not opened.
 */
export interface Glob {
  readonly start: GlobState;
  step(state: GlobState, name: string): GlobState;
  accepts(state: GlobState): boolean;
  /** Returns the test that names of files have to pass in a folder: `accepts(step(state, name))`, made once for each state. */
  filesOf(state: GlobState): (name: string) => boolean;
}

const maxPatternLength = 1000;
const maxAlternatives = 64;

type Segment = "globstar" | "end" | readonly Token[];
type Token = { readonly type: "star" } | { readonly type: "any" } | { readonly type: "set"; has(char: string): boolean } | string;

export function compileGlob(pattern: string): Glob {
  if (pattern.length > maxPatternLength) throw invalid(`A pattern has at most ${maxPatternLength} characters.`);
  if (pattern.startsWith("/")) throw invalid("A pattern is relative to the folder: it cannot begin with /.");
  // All alternatives lie in one array, each closed by "end"; a state is a set of positions in it.
  const segments = expandBraces(pattern).flatMap((alternative) => [...parseSegments(alternative), "end" as const]);
  const starts = segments.flatMap((_, index) => (index === 0 || segments[index - 1] === "end" ? [index] : []));
  // The folders of a walk have few states: those that are equal are one.
  const states = new Map<string, GlobState>();
  const reach = (positions: readonly number[]) => getOrMake(states, positions.join(), () => close(segments, positions));
  const tests = new WeakMap<GlobState, (name: string) => boolean>();
  return {
    start: reach(starts),
    step: (state, name) => {
      const next: number[] = [];
      for (const index of state) next.push(...advance(segments[index], index, name));
      return reach(next);
    },
    accepts: (state) => [...state].some((index) => segments[index] === "end"),
    filesOf: (state) => getOrMake(tests, state, () => testOfFiles(segments, state)),
  };
}

function testOfFiles(segments: readonly Segment[], state: GlobState): (name: string) => boolean {
  const last = [...state].flatMap((index) => {
    const segment = segments[index];
    return segments[index + 1] === "end" && typeof segment === "object" ? [toTest(segment)] : [];
  });
  const [only] = last;
  return last.length === 1 && only ? only : (name) => last.some((test) => test(name));
}

/** A `**` can also stand for no folder at all. */
function close(segments: readonly Segment[], positions: readonly number[]): GlobState {
  const closed = new Set<number>();
  for (let position of positions) {
    closed.add(position);
    while (segments[position] === "globstar") closed.add(++position);
  }
  return closed;
}

function advance(segment: Segment | undefined, index: number, name: string): readonly number[] {
  if (segment === undefined || segment === "end") return [];
  if (segment === "globstar") return name.startsWith(".") ? [] : [index];
  return matchesName(segment, name) ? [index + 1] : [];
}

function parseSegments(pattern: string): Segment[] {
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw invalid('A pattern cannot hold "..".');
  const segments = parts.map((part): Segment => (part === "**" ? "globstar" : parseName(part)));
  // `a/**` means everything below `a`, not `a` itself.
  return segments.at(-1) === "globstar" ? [...segments, [{ type: "star" }]] : segments;
}

function parseName(part: string): Token[] {
  const characters = [...part];
  const tokens: Token[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    const end = character === "[" ? endOfSet(characters, index) : -1;
    if (character === "*") {
      if (tokens.at(-1) !== star) tokens.push(star);
    } else if (character === "?") tokens.push({ type: "any" });
    else if (end !== -1) {
      tokens.push(parseSet(characters.slice(index + 1, end)));
      index = end;
    } else if (character === "\\" && index + 1 < characters.length) tokens.push(characters[++index] ?? "");
    else tokens.push(character);
  }
  return tokens;
}

const star: Token = { type: "star" };

/** `]` as the first member stands for itself. */
function endOfSet(characters: readonly string[], start: number): number {
  const negated = characters[start + 1] === "!" || characters[start + 1] === "^";
  return characters.indexOf("]", start + (negated ? 3 : 2));
}

function parseSet(inside: readonly string[]): Token {
  const negated = inside[0] === "!" || inside[0] === "^";
  const members = negated ? inside.slice(1) : inside;
  const ranges: (readonly [string, string])[] = [];
  for (let index = 0; index < members.length; index++) {
    const from = members[index] ?? "";
    const isRange = members[index + 1] === "-" && index + 2 < members.length;
    ranges.push([from, isRange ? (members[index + 2] ?? from) : from]);
    if (isRange) index += 2;
  }
  return { type: "set", has: (char) => ranges.some(([from, to]) => from <= char && char <= to) !== negated };
}

/** `*` and `*.md` are compared by the end of a name; half a character could be the end of a whole one. */
function toTest(tokens: readonly Token[]): (name: string) => boolean {
  const [first, ...rest] = tokens;
  const end = rest.every((token) => typeof token === "string") ? rest.join("") : undefined;
  if (first !== star || end === undefined || !end.isWellFormed()) return (name) => matchesName(tokens, name);
  return (name) => !name.startsWith(".") && name.endsWith(end);
}

/** The usual two pointers: after a mismatch, the last star takes one character more. Linear in name times pattern. */
function matchesName(tokens: readonly Token[], name: string): boolean {
  if (name.startsWith(".") && tokens[0] !== ".") return false;
  const characters = [...name];
  let token = 0;
  let character = 0;
  let lastStar = -1;
  let resume = 0;
  while (character < characters.length) {
    const current = tokens[token];
    if (current === star || (typeof current === "object" && current.type === "star")) {
      lastStar = token++;
      resume = character;
    } else if (current !== undefined && matchesCharacter(current, characters[character] ?? "")) {
      token++;
      character++;
    } else if (lastStar !== -1) {
      token = lastStar + 1;
      character = ++resume;
    } else return false;
  }
  return tokens.slice(token).every((rest) => typeof rest === "object" && rest.type === "star");
}

function matchesCharacter(token: Token, character: string): boolean {
  if (typeof token === "string") return token === character;
  return token.type === "any" || (token.type === "set" && token.has(character));
}

function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    const next = open.shift() ?? "";
    const choice = findBraces(next);
    if (choice === undefined) done.push(next);
    else open.unshift(...choice.parts.map((part) => next.slice(0, choice.start) + part + next.slice(choice.end)));
    if (done.length + open.length > maxAlternatives) throw invalid(`A pattern has at most ${maxAlternatives} alternatives.`);
  }
  return done;
}

/** The first `{a,b}`; `{a}` without a comma is literal. */
function findBraces(pattern: string): { start: number; end: number; parts: string[] } | undefined {
  for (let start = pattern.indexOf("{"); start !== -1; start = pattern.indexOf("{", start + 1)) {
    if (pattern[start - 1] === "\\") continue;
    const commas: number[] = [];
    let depth = 0;
    for (let index = start; index < pattern.length; index++) {
      const character = pattern[index];
      if (character === "\\") index++;
      else if (character === "{") depth++;
      else if (character === "," && depth === 1) commas.push(index);
      else if (character === "}" && --depth === 0) {
        if (commas.length === 0) break;
        const edges = [start, ...commas, index];
        const parts = edges.slice(1).map((edge, part) => pattern.slice((edges[part] ?? 0) + 1, edge));
        return { start, end: index + 1, parts };
      }
    }
  }
  return undefined;
}

function invalid(message: string): ScopeError {
  return new ScopeError("invalid_path", message, { hint: "Use a pattern such as **/*.md." });
}
