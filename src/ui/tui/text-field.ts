import { showHidden } from "../text/show-text.ts";
import { cutText } from "../text/wrap-text.ts";

/** A key press, as `node:readline` names it, or a paste. */
export interface Key {
  readonly name: string;
  /** The text that it writes; empty for keys that write nothing. */
  readonly text: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
}

/** `submit`: Enter was pressed. `ignored`: the key means nothing to the field. */
export type KeyEffect = "submit" | "changed" | "ignored";

/** Earlier texts that are kept. */
export const longestHistory = 200;

/** The text that is being typed: several lines, with a cursor and a history. */
export class TextField {
  #text = "";
  #cursor = 0;
  readonly #history: string[];
  /** Counts back from the end of the history; 0 is the text that is being typed. */
  #back = 0;
  #draft = "";

  /** `history`: earlier texts that can be recalled, the oldest first. */
  constructor(history: readonly string[] = []) {
    this.#history = history.slice(-longestHistory);
  }

  get text(): string {
    return this.#text;
  }

  get beforeCursor(): string {
    return this.#text.slice(0, this.#cursor);
  }

  set(text: string): void {
    this.#text = text;
    this.#cursor = text.length;
    this.#back = 0;
  }

  /** Replaces what stands before the cursor, from `start` on. */
  complete(start: number, text: string): void {
    this.#replace(start, this.#cursor, text);
  }

  /** Returns the text, remembers it, and empties the field. */
  take(): string {
    const text = this.#text;
    if (text.trim() !== "" && text !== this.#history.at(-1)) this.#history.push(text);
    if (this.#history.length > longestHistory) this.#history.shift();
    this.set("");
    return text;
  }

  press(key: Key): KeyEffect {
    if (key.name === "paste") return this.#insert(key.text.replace(/\r\n?/g, "\n"));
    if (key.name === "return" && !key.meta) {
      if (!this.beforeCursor.endsWith("\\")) return "submit";
      return this.#replace(this.#cursor - 1, this.#cursor, "\n");
    }
    if (key.name === "enter" || key.name === "return") return this.#insert("\n");
    const edit = edits[`${key.ctrl ? "ctrl-" : key.meta ? "meta-" : ""}${key.name}`];
    if (edit) return this.#apply(edit(this.#text, this.#cursor));
    if (key.name === "up" || key.name === "down") return this.#moveLine(key.name === "up" ? -1 : 1);
    if (key.ctrl || key.meta || key.text === "" || /^[\x00-\x1f\x7f]/.test(key.text)) return "ignored";
    return this.#insert(key.text);
  }

  #insert(text: string): KeyEffect {
    return this.#replace(this.#cursor, this.#cursor, text);
  }

  #replace(from: number, to: number, text: string): KeyEffect {
    return this.#apply({ text: this.#text.slice(0, from) + text + this.#text.slice(to), cursor: from + text.length });
  }

  #apply({ text, cursor }: Edited): KeyEffect {
    this.#text = text;
    this.#cursor = cursor;
    return "changed";
  }

  /** Moves between the lines of the text, and at its ends through the history. */
  #moveLine(by: -1 | 1): KeyEffect {
    const start = lineStart(this.#text, this.#cursor);
    const column = this.#cursor - start;
    const other = by < 0 ? lineStart(this.#text, start - 1) : lineEnd(this.#text, this.#cursor) + 1;
    if (by < 0 ? start === 0 : other > this.#text.length) return this.#recall(this.#back - by);
    return this.#apply({ text: this.#text, cursor: Math.min(other + column, lineEnd(this.#text, other)) });
  }

  #recall(back: number): KeyEffect {
    if (back < 0 || back > this.#history.length) return "ignored";
    if (this.#back === 0) this.#draft = this.#text;
    this.set(back === 0 ? this.#draft : (this.#history.at(-back) ?? ""));
    this.#back = back;
    return "changed";
  }
}

interface Edited {
  readonly text: string;
  readonly cursor: number;
}

type Edit = (text: string, cursor: number) => Edited;

const move =
  (to: (text: string, cursor: number) => number): Edit =>
  (text, cursor) => ({ text, cursor: to(text, cursor) });

const erase =
  (range: (text: string, cursor: number) => readonly [number, number]): Edit =>
  (text, cursor) => {
    const [from, to] = range(text, cursor);
    return { text: text.slice(0, from) + text.slice(to), cursor: from };
  };

const home = move(lineStart);
const end = move(lineEnd);
const eraseBefore = erase((text, cursor) => [before(text, cursor), cursor]);
const eraseAfter = erase((text, cursor) => [cursor, after(text, cursor)]);
const eraseWord = erase((text, cursor) => [wordBefore(text, cursor), cursor]);

const edits: Readonly<Record<string, Edit>> = {
  left: move(before),
  right: move(after),
  "ctrl-b": move(before),
  "ctrl-f": move(after),
  "ctrl-left": move(wordBefore),
  "meta-b": move(wordBefore),
  "ctrl-right": move(wordAfter),
  "meta-f": move(wordAfter),
  home,
  end,
  "ctrl-a": home,
  "ctrl-e": end,
  backspace: eraseBefore,
  delete: eraseAfter,
  "ctrl-w": eraseWord,
  "meta-backspace": eraseWord,
  "ctrl-u": erase((text, cursor) => [lineStart(text, cursor), cursor]),
  "ctrl-k": erase((text, cursor) => [cursor, lineEnd(text, cursor)]),
};

const segmenter = new Intl.Segmenter();

function before(text: string, cursor: number): number {
  const from = Math.max(0, cursor - 64);
  const last = [...segmenter.segment(text.slice(from, cursor))].at(-1);
  return last ? from + last.index : 0;
}

function after(text: string, cursor: number): number {
  const [next] = segmenter.segment(text.slice(cursor, cursor + 64));
  return cursor + (next?.segment.length ?? 0);
}

function wordBefore(text: string, cursor: number): number {
  return cursor - (/\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0);
}

function wordAfter(text: string, cursor: number): number {
  return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
}

function lineStart(text: string, cursor: number): number {
  return cursor <= 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd(text: string, cursor: number): number {
  const at = text.indexOf("\n", cursor);
  return at < 0 ? text.length : at;
}

/** Rows of a screen, and where the cursor stands in them. */
export interface DrawnField {
  readonly rows: readonly string[];
  /** `column` counts characters of the row, not cells. */
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Lays the field out behind a prompt of two columns; of a long text the rows around the cursor. */
export function drawField({ text, beforeCursor }: TextField, columns: number, longest: number): DrawnField {
  const rows: string[] = [];
  let cursor = { row: 0, column: 2 };
  const line = beforeCursor.split("\n").length - 1;
  for (const [index, one] of text.split("\n").entries()) {
    const cursorAt = index === line ? showHidden(beforeCursor.slice(beforeCursor.lastIndexOf("\n") + 1)).length : -1;
    let at = 0;
    for (const piece of cutText(showHidden(one), Math.max(8, columns - 3))) {
      if (cursorAt >= at) cursor = { row: rows.length, column: 2 + Math.min(cursorAt - at, piece.length) };
      rows.push(`${rows.length === 0 ? "> " : "  "}${piece}`);
      at += piece.length;
    }
  }
  const top = Math.max(0, Math.min(cursor.row - longest + 1, rows.length - longest));
  const shown = rows.slice(top, top + longest);
  return { rows: shown, cursor: { row: cursor.row - top, column: cursor.column } };
}
