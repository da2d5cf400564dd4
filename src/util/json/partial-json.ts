import { parseJson } from "./parse-json.ts";
import { isTooDeep } from "./to-json-value.ts";

/** How much a text grows before it is read again, as a part of its length, so that the whole takes linear time. */
const growth = 16;

/**
 * Reads a JSON object or array while it comes in pieces. Text before it is left out. Strings end where the text does; a key without a value,
 * a number or a word that may go on is not there yet.
 */
export class PartialJson {
  #text = "";
  #lookAt = 0;
  #last = "";

  /** Returns the value so far; undefined if it is the one of before, or none. */
  push(piece: string): unknown {
    this.#text += piece;
    return this.#text.length < this.#lookAt ? undefined : this.#read();
  }

  /** As `push`, for what has not been read yet. */
  end(): unknown {
    return this.#read();
  }

  #read(): unknown {
    this.#lookAt = this.#text.length + this.#text.length / growth;
    const start = this.#text.search(/[[{]/);
    const closed = start < 0 ? "" : closeJson(this.#text.slice(start));
    if (closed === this.#last) return undefined;
    this.#last = closed;
    const value = parseJson(closed);
    return isTooDeep(value) ? undefined : value;
  }
}

/** Returns the longest beginning of a JSON text that can be closed, closed; what follows the value is left out. */
function closeJson(text: string): string {
  const closers: string[] = [];
  const close = (end: number) => text.slice(0, end) + closers.toReversed().join("");
  let [isKey, whole] = [false, 0];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const { end, isOpen } = endOfString(text, at);
      if (isOpen) return isKey ? close(whole) : `${text.slice(0, end)}"${closers.toReversed().join("")}`;
      if (!isKey) whole = end;
      at = end - 1;
    } else if (character !== undefined && "{}[]".includes(character)) {
      nest(closers, character);
      isKey = character === "{";
      whole = at + 1;
      if (closers.length === 0) break;
    } else if (character === ",") {
      whole = at;
      isKey = closers.at(-1) === "}";
    } else if (character === ":") isKey = false;
  }
  return close(whole);
}

function nest(closers: string[], bracket: string): void {
  if (bracket === "{" || bracket === "[") closers.push(bracket === "{" ? "}" : "]");
  else closers.pop();
}

/** `end`: behind the closing quote; in an open string behind its last whole character. */
function endOfString(text: string, start: number): { readonly end: number; readonly isOpen: boolean } {
  let at = start + 1;
  while (at < text.length) {
    if (text[at] === '"') return { end: at + 1, isOpen: false };
    const end = at + (text[at] !== "\\" ? 1 : text[at + 1] === "u" ? 6 : 2);
    if (end > text.length || (end === text.length && isFirstHalf(text.slice(at)))) break;
    at = end;
  }
  return { end: at, isOpen: true };
}

/** Returns whether a character is the first half of a surrogate pair, as it is or as an escape. */
function isFirstHalf(character: string): boolean {
  return /^(?:[\ud800-\udbff]|\\ud[89ab][\da-f]{2})$/i.test(character);
}
