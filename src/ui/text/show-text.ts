import { escapeControls, escapeText } from "../../util/text/escape-text.ts";
import { findLookAlikes, findMixedWords } from "./look-alikes.ts";

const tab = "→   ";
/** A letter without dots: it looks like a space. */
const blankLetter = /\u2800/g;
const blank = /(?! )\p{Zs}|\u2800/gu;

export interface Showing {
  /** The text is a command line: what looks like its syntax is escaped too. */
  readonly isCommand?: boolean;
  /** The text is the content of a file: spaces of other widths are letters of its language. */
  readonly isContent?: boolean;
  /** Gets the look-alikes that were escaped, each with what it looks like. */
  readonly found?: Map<string, string>;
}

/**
 * A text as a question shows it: escaped, so that it reads back to the very text. A tab is an arrow and three blanks, and what is
 * written like one is escaped; so is a letter that could be taken for another one.
 */
export function showText(text: string, { isCommand = false, isContent = false, found }: Showing = {}): string {
  if (/^[ -[\]-~]*$/.test(text)) return text;
  return text
    .split("\t")
    .map((piece) => showPiece(piece, isCommand, found))
    .join(tab)
    .replace(isContent ? blankLetter : blank, escapeCharacter);
}

/** Like `showText`, for the beginning of a row: a character that would look like a margin there is escaped. */
export function showFirst(text: string, showing?: Showing): string {
  return showText(text, showing).replace(/^[ |:(]/, escapeCharacter);
}

function showPiece(text: string, isCommand: boolean, found: Showing["found"]): string {
  let shown = "";
  let from = 0;
  for (const { index, character, like } of findLookAlikes(text, isCommand)) {
    found?.set(character, like);
    shown += escapePiece(text.slice(from, index)) + escapeCharacter(character);
    from = index + character.length;
  }
  return shown + escapePiece(text.slice(from));
}

function escapePiece(text: string): string {
  return escapeText(text).replaceAll(tab, "\\u{2192}   ");
}

export function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`;
}

/**
 * A text of several lines that is shown and not judged, in any language: what a terminal would obey is escaped, and what would reorder
 * or hide parts of a line. Tabs become four blanks.
 */
export function showHidden(text: string): string {
  return escapeControls(text.replaceAll("\r\n", "\n")).replace(reordering, escapeCharacter).replaceAll("\t", "    ");
}

/** Like `showHidden`, for what models and tools wrote: letters of another script in a Latin word are escaped, too. */
export function showProse(text: string): string {
  const shown = showHidden(text);
  let [marked, from] = ["", 0];
  for (const { index, character } of findMixedWords(shown)) {
    marked += shown.slice(from, index) + escapeCharacter(character);
    from = index + character.length;
  }
  return from === 0 ? shown : marked + shown.slice(from);
}

const reordering = /[\u115F\u1160\u2800\u3164\uFFA0\u200B\u202A-\u202E\u2028\u2029\u2060-\u2069\uFEFF\u{E0000}-\u{E0FFF}]/gu;
