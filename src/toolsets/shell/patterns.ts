import { matchesFlatGlob } from "../../util/text/flat-glob.ts";
import type { ShellWord } from "./parse/plan.ts";

/** A rule's pattern in its tokens. */
export type Pattern = readonly string[];

export function parsePattern(text: string): Pattern {
  return text.split(/\s+/).filter((token) => token !== "");
}

/**
 * True if a command begins as the pattern says, token by token. A `*` in a token is any run of characters of one argument (in
 * the program's name: but no `/`), a token `*` any number of arguments, or any program. Only static words equal anything else.
 * A token that does not begin with `-` matches no argument that does: `*.py` means files, and not the option `-cimport x#.py`. One
 * that names a folder before its star matches no way out of it: `scripts/*` is not `scripts/../x`.
 */
export function coversCommand(pattern: Pattern, words: readonly ShellWord[]): boolean {
  const [program, ...tokens] = pattern;
  const [first, ...rest] = words;
  if (program === undefined || first === undefined) return false;
  return coversProgram(program, first) && coversRest(tokens, rest);
}

function coversProgram(token: string, { kind, value }: ShellWord): boolean {
  if (token === "*") return true;
  if (kind !== "static" || value === "") return false;
  if (!token.includes("*")) return token === value;
  const [tokenParts, parts] = [token.split("/"), value.split("/")];
  if (tokenParts.length !== parts.length || parts.includes("..")) return false;
  return tokenParts.every((part, index) => matchesStars(part, parts[index] ?? ""));
}

/** Goes back only to the last star, so that no pattern takes long. What follows the last token is free. */
function coversRest(tokens: Pattern, words: readonly ShellWord[]): boolean {
  let [t, w, star, mark] = [0, 0, -1, 0];
  while (t < tokens.length) {
    const token = tokens[t] ?? "";
    const word = words[w];
    if (token === "*") [star, mark, t] = [t, w, t + 1];
    else if (word?.kind === "static" && matchesArgumentToken(token, word.value)) [t, w] = [t + 1, w + 1];
    else if (star >= 0 && mark < words.length) [t, mark, w] = [star + 1, mark + 1, mark + 1];
    else return false;
  }
  return true;
}

function matchesArgumentToken(token: string, text: string): boolean {
  if (text.startsWith("-") && !token.startsWith("-")) return false;
  const leaves = /\/.*\*/.test(token) && text.split("/").includes("..") && !token.split("/").includes("..");
  return !leaves && matchesStars(token, text);
}

/** `*` alone is special; `?` is a character like any other. */
function matchesStars(token: string, text: string): boolean {
  return token.includes("*") ? matchesFlatGlob(token.replaceAll("?", "\u0000"), text.replaceAll("?", "\u0000")) : token === text;
}

/**
 * True if a glob of `deny_args` and the like means an argument: also abbreviated, with a value, with another number of dashes, in
 * another case, or among other letters.
 */
export function matchesArgument(glob: string, { value }: ShellWord): boolean {
  if (matchesFlatGlob(glob, value)) return true;
  if (!value.startsWith("-") || !glob.startsWith("-")) return false;
  const name = value.split("=", 1)[0] ?? value;
  if (matchesFlatGlob(glob, name)) return true;
  const [meant, written] = [glob, name].map((one) => one.replace(/^--?/, "").toLowerCase()) as [string, string];
  const isName = written.length > 1 || (name.startsWith("--") && written !== "");
  if (meant.length > 1 && isName && (matchesFlatGlob(meant, written) || meant.startsWith(written))) return true;
  if (glob.startsWith("--")) return false;
  // `-rf` and `-fr` are the same, and `-f` is in both.
  const letters = [...glob.slice(1)].filter((letter) => letter !== "*");
  return (
    !value.startsWith("--") &&
    letters.length > 0 &&
    (!glob.includes("*") || /^-[^*]\*+$/.test(glob)) &&
    letters.every((letter) => value.slice(1).includes(letter))
  );
}

/** True if `earlier` covers all that `later` covers. */
export function includesPattern(earlier: Pattern, later: Pattern): boolean {
  const trimmed = withoutTrailingStars(earlier);
  if (trimmed.length === 1 && trimmed[0] === "*") return true;
  if (trimmed.some((token) => token === "*")) return trimmed.join(" ") === withoutTrailingStars(later).join(" ");
  return trimmed.every((token, index) => {
    const other = later[index];
    if (other === undefined || (other === "*" && index > 0)) return false;
    if (token === other) return true;
    return index === 0 ? !other.includes("/") && matchesStars(token, other) : matchesArgumentToken(token, other);
  });
}

function withoutTrailingStars(pattern: Pattern): Pattern {
  const last = pattern.findLastIndex((token, index) => token !== "*" || index === 0);
  return pattern.slice(0, last + 1);
}
