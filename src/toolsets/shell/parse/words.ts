import type { DoubleQuotedChild, Word, WordPart } from "unbash";
import type { ShellWord } from "./plan.ts";
import { quoteLiteral, quoteWord } from "./quote.ts";

type Kind = ShellWord["kind"];

interface Piece {
  readonly kind: Kind;
  readonly value: string;
  readonly print: string | undefined;
}

/** Reads one word by the shell's quoting rules. The caller looks for scripts inside it. */
export function readWord(word: Word): ShellWord {
  const pieces = word.parts === undefined ? [readLiteral(word.text, word.value)] : word.parts.map(readPart);
  if (startsWithTilde(word)) pieces.unshift(unknown(""));
  const kind = strongest(pieces);
  const value = pieces.map((piece) => piece.value).join("");
  return { kind, value, head: headOf(pieces), print: kind === "static" ? quoteWord(value) : printOf(pieces) };
}

/** Why a dynamic word is one, for people. */
export function describeDynamic(word: Word): string {
  for (const part of (word.parts ?? []).flatMap((one): readonly WordPart[] =>
    "parts" in one ? [one, ...(one.parts ?? [])] : [one],
  )) {
    const name = dynamicNames[part.type];
    if (name !== undefined) return name;
  }
  return startsWithTilde(word) || word.text.includes("~") ? "a home folder (~)" : "a word that the shell expands";
}

const dynamicNames: Readonly<Record<string, string>> = {
  CommandExpansion: "a command substitution",
  ProcessSubstitution: "a process substitution",
  ArithmeticExpansion: "arithmetic",
  BraceExpansion: "a brace list",
  ExtendedGlob: "an extended glob",
  LocaleString: "a translated string",
  ParameterExpansion: "a parameter expansion",
  AnsiCQuoted: "escapes in $'…'",
};

function readPart(part: WordPart): Piece {
  switch (part.type) {
    case "Literal":
      return readLiteral(part.text, part.value);
    case "SingleQuoted":
      return known(part.value);
    case "AnsiCQuoted":
      return hasPlainEscapes(part.text) ? known(part.value) : unknown(part.value);
    case "DoubleQuoted":
      return joined(part.parts.map(readQuoted));
    case "Glob":
      return readGlob(part.text, part.kind);
    case "SimpleExpansion":
      return variable(part.text, part.text);
    case "ParameterExpansion":
      return isPlainParameter(part) ? variable(part.text, part.text) : unknown(part.text);
    default:
      return unknown(part.text);
  }
}

function readQuoted(part: DoubleQuotedChild): Piece {
  if (part.type === "Literal") return known(part.value);
  if (part.type === "SimpleExpansion") return variable(part.text, `"${part.text}"`);
  if (part.type === "ParameterExpansion" && isPlainParameter(part)) return variable(part.text, `"${part.text}"`);
  return unknown(part.text);
}

function isPlainParameter(part: { readonly text: string; readonly parameter: string }): boolean {
  return part.text === `\${${part.parameter}}` && /^\w+$/.test(part.parameter);
}

/** Unquoted text. A tilde behind `=` or `:` can become somebody's home folder. */
function readLiteral(text: string, value: string): Piece {
  return /[=:]~/.test(text) ? unknown(value) : known(value);
}

function startsWithTilde(word: Word): boolean {
  return word.text.startsWith("~");
}

/** Escapes that mean the same in every locale: of visible ASCII (`\x72`), no bytes that are half a character, no end of the string. */
function hasPlainEscapes(text: string): boolean {
  return /^(?:[^\\]|\\(?:[nt\\'"]|x(?:[2-6][0-9a-f]|7[0-9a-e])))*$/i.test(text);
}

function readGlob(text: string, kind: "star" | "question" | "bracket"): Piece {
  const isSafe = kind !== "bracket" || /^\[[!^]?[A-Za-z0-9_.-]+\]$/.test(text);
  return isSafe ? { kind: "glob", value: text, print: text } : unknown(text);
}

function known(value: string): Piece {
  return { kind: "static", value, print: quoteLiteral(value) };
}

function variable(value: string, print: string): Piece {
  return { kind: "variable", value, print };
}

function unknown(value: string): Piece {
  return { kind: "dynamic", value, print: undefined };
}

function joined(pieces: readonly Piece[]): Piece {
  const kind = strongest(pieces);
  const value = pieces.map((piece) => piece.value).join("");
  return kind === "static" ? known(value) : { kind, value, print: printOf(pieces) };
}

const order: readonly Kind[] = ["dynamic", "variable", "glob", "static"];

function strongest(pieces: readonly Piece[]): Kind {
  return order.find((kind) => pieces.some((piece) => piece.kind === kind)) ?? "static";
}

function printOf(pieces: readonly Piece[]): string | undefined {
  if (pieces.some((piece) => piece.print === undefined)) return undefined;
  return pieces.map((piece) => piece.print).join("");
}

function headOf(pieces: readonly Piece[]): string {
  const end = pieces.findIndex((piece) => piece.kind !== "static");
  return (end === -1 ? pieces : pieces.slice(0, end)).map((piece) => piece.value).join("");
}
