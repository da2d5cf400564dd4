import { runSteps } from "../util/in-steps.ts";
import { countBreaks } from "./diff-window.ts";
import type { PreviewLine, TextBlock, TextLine } from "./preview-line.ts";
import { count } from "./render-diff.ts";
import { escapeCharacter, type Showing, showText } from "./show-text.ts";
import { cutText, cutWords } from "./wrap-text.ts";

export interface RowStyle {
  readonly columns: number;
  readonly style: (format: "bold" | "dim" | "green" | "red", text: string) => string;
}

export interface RowPage {
  readonly rows: readonly string[];
  /** Nothing is left. */
  readonly isEnd: boolean;
}

/** A longer line is escaped in pieces, so that the beginning of it costs no more than it shows. */
const longestPiece = 16_000;

/**
 * The rows of a preview, page by page: what is not shown costs nothing. Every row has the margin, so that no content can be taken
 * for the question's own words.
 */
export class PreviewRows {
  readonly #lines: readonly PreviewLine[];
  readonly #style: RowStyle;
  readonly #isCommand: boolean;
  #next = 0;
  /** What is left of a block of lines that was begun. */
  #block: TextBlock | undefined;
  /** The rest of the line before. */
  #open: Iterator<string> | undefined;

  constructor(lines: readonly PreviewLine[], { isCommand, ...style }: RowStyle & Pick<Showing, "isCommand">) {
    this.#lines = lines;
    this.#style = style;
    this.#isCommand = isCommand ?? false;
  }

  /** The next rows, with words about what is left and about the look-alikes among them, which `found` gets. */
  take(longest: number, found = new Map<string, string>()): RowPage {
    const rows: string[] = [];
    for (;;) {
      const isBegun = this.#open !== undefined || this.#block !== undefined;
      const isEnd = !isBegun && this.#next >= this.#lines.length;
      const isFull = rows.length >= longest && (isBegun || typeof this.#lines[this.#next] !== "string");
      if (isEnd || isFull) return { rows: [...rows, ...this.#notesOn(found), ...(isEnd ? [] : this.#rest())], isEnd };
      this.#addTo(rows, { longest, found });
    }
  }

  #addTo(rows: string[], { longest, found }: { readonly longest: number; readonly found: Map<string, string> }): void {
    let open = this.#open;
    if (!open) {
      const line = this.#takeLine();
      if (line === undefined) return;
      if (typeof line === "string") {
        rows.push(...this.#note(showText(line)));
        return;
      }
      open = rowsOf(line, { ...this.#style, isCommand: this.#isCommand, found });
    }
    this.#open = open;
    while (rows.length < longest) {
      const { value, done } = open.next();
      if (done) {
        this.#open = undefined;
        return;
      }
      rows.push(value);
    }
    this.#open = peeked(open);
  }

  #takeLine(): TextLine | string | undefined {
    const line = this.#block ?? this.#lines[this.#next++];
    if (typeof line !== "object" || !("block" in line)) return line;
    const { block, ...style } = line;
    const end = block.indexOf("\n");
    this.#block = end === -1 ? undefined : { ...style, block: block.slice(end + 1) };
    return { ...style, text: end === -1 ? block : block.slice(0, end) };
  }

  #rest(): string[] {
    const left = [...(this.#block ? [this.#block] : []), ...this.#lines.slice(this.#next)];
    const lines = left.reduce((sum, line) => sum + linesIn(line), 0);
    const more = `${count(lines)} more lines are not shown`;
    return this.#note(this.#open ? `this line goes on, and ${more}` : more);
  }

  #notesOn(found: ReadonlyMap<string, string>): string[] {
    if (found.size === 0) return [];
    const list = [...found].map(([character, like]) => `${escapeCharacter(character)} looks like ${like}`);
    const more = list.length > mostNamed ? `, and ${count(list.length - mostNamed)} others` : "";
    return this.#note(`look-alikes, written as codes: ${list.slice(0, mostNamed).join(", ")}${more}`);
  }

  #note(text: string): string[] {
    return cutWords(`(${text})`, this.#style.columns - 5).map((row, index) => `${index === 0 ? "  " : "    "}${row}`);
  }
}

function linesIn(line: PreviewLine): number {
  return typeof line === "object" && "block" in line ? runSteps(countBreaks(line.block)) + 1 : 1;
}

const mostNamed = 8;

/** Undefined where there is nothing more. */
function peeked(rows: Iterator<string>): Iterator<string> | undefined {
  const { value, done } = rows.next();
  if (done) return undefined;
  return (function* () {
    yield value;
    for (let next = rows.next(); !next.done; next = rows.next()) yield next.value;
  })();
}

function* rowsOf({ text, sign, format }: TextLine, { columns, style, ...showing }: RowStyle & Showing): Generator<string> {
  let margin = "|";
  let from = 0;
  do {
    const end = endOfPiece(text, from);
    const shown = (from === 0 ? (sign ?? "") : "") + showText(text.slice(from, end), showing);
    for (const row of cutText(shown, columns - 5)) {
      yield `  ${margin} ${format ? style(format, row) : row}`;
      margin = ":";
    }
    from = end;
  } while (from < text.length);
}

/** Before a character that is escaped for itself alone. */
function endOfPiece(text: string, from: number): number {
  const most = from + longestPiece;
  if (text.length <= most) return text.length;
  for (let end = most; end > from; end--) if (/[!-~]/.test(text.charAt(end))) return end;
  return most;
}
