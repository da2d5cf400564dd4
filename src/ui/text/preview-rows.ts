import { runSteps } from "../../util/in-steps.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { countBreaks } from "./diff-window.ts";

import { escapeCharacter, type Showing, showText } from "./show-text.ts";
import { cutText, cutWords } from "./wrap-text.ts";

/** A line of a preview, unescaped; or, as a string, words of the question about it, which no line of a preview can look like. */
export type PreviewLine = TextLine | TextBlock | string;

interface TextLine {
  readonly text: string;
  /** The sign of a diff. It is separate, so that no mark at the beginning of the line changes it. */
  readonly sign?: " " | "+" | "-";
  readonly format?: "green" | "red";
}

/** Many lines, which are split only where they are shown. */
interface TextBlock extends Omit<TextLine, "text"> {
  readonly block: string;
}

export interface RowStyle {
  readonly columns: number;
  readonly style: (format: "bold" | "dim" | "green" | "red", text: string) => string;
}

export interface RowPage {
  readonly rows: readonly string[];
  /** Nothing is left. */
  readonly isEnd: boolean;
}

interface Row {
  readonly text: string;
  /** Words of the question. They are shown with the row before them, however long a page is. */
  readonly isNote?: boolean;
  /** It continues a line. */
  readonly isRest?: boolean;
  /** Look-alikes that are escaped in it and in the next rows, each with what it looks like. */
  readonly found?: ReadonlyMap<string, string>;
  /** Counts the lines after its own. */
  readonly after: () => number;
}

/** A longer line is escaped in pieces, so that the beginning of it costs no more than it shows. */
const longestPiece = 16_000;
/** Look-alikes that a page names. */
const mostNamed = 8;

/**
 * The rows of a preview, page by page: what is not shown costs nothing. Every row has the margin, so that no content can be taken
 * for the question's own words.
 */
export class PreviewRows {
  readonly #rows: Iterator<Row, undefined>;
  readonly #columns: number;
  #next: Row | undefined;

  constructor(lines: readonly PreviewLine[], style: RowStyle & Pick<Showing, "isCommand" | "isContent">) {
    this.#rows = layOut(lines, style);
    this.#columns = style.columns;
    this.#next = this.#rows.next().value;
  }

  /** Returns the next rows, with notes on what is left and on the look-alikes among them, which are added to `found`. */
  take(longest: number, found = new Map<string, string>()): RowPage {
    const rows: string[] = [];
    while (this.#next && (rows.length < longest || this.#next.isNote)) {
      rows.push(this.#next.text);
      for (const [character, like] of this.#next.found ?? []) found.set(character, like);
      this.#next = this.#rows.next().value;
    }
    const notes = [...(found.size > 0 ? [describeLookAlikes(found)] : []), ...(this.#next ? [describeRest(this.#next)] : [])];
    return { rows: [...rows, ...notes.flatMap((note) => noteRows(note, this.#columns))], isEnd: !this.#next };
  }
}

function describeLookAlikes(found: ReadonlyMap<string, string>): string {
  const list = [...found].map(([character, like]) => `${escapeCharacter(character)} looks like ${like}`);
  const more = list.length > mostNamed ? `, and ${formatCount(list.length - mostNamed)} others` : "";
  return `look-alikes, written as codes: ${list.slice(0, mostNamed).join(", ")}${more}`;
}

function describeRest({ isRest, after }: Row): string {
  const more = `${formatCount(after() + (isRest ? 0 : 1))} more lines are not shown`;
  return isRest ? `this line goes on, and ${more}` : more;
}

function noteRows(text: string, columns: number): string[] {
  return cutWords(`(${text})`, columns - 5).map((row, index) => `${index === 0 ? "  " : "    "}${row}`);
}

function* layOut(lines: readonly PreviewLine[], style: RowStyle & Showing): Generator<Row, undefined> {
  for (const [index, line] of lines.entries()) {
    const after = () => lines.slice(index + 1).reduce((sum, other) => sum + linesIn(other), 0);
    if (typeof line === "string") {
      for (const text of noteRows(showText(line), style.columns)) yield { text, isNote: true, after };
    } else if ("text" in line) yield* rowsOf(line, style, after);
    else yield* blockRows(line, style, after);
  }
  return undefined;
}

function* blockRows({ block, ...line }: TextBlock, style: RowStyle & Showing, after: () => number): Generator<Row> {
  for (let [start, end] = [0, 0]; end !== -1; start = end + 1) {
    end = block.indexOf("\n", start);
    const next = end + 1;
    const text = end === -1 ? block.slice(start) : block.slice(start, end);
    const left = end === -1 ? after : () => linesIn({ block: block.slice(next) }) + after();
    yield* rowsOf({ ...line, text }, style, left);
  }
}

function linesIn(line: PreviewLine): number {
  return typeof line === "object" && "block" in line ? runSteps(countBreaks(line.block)) + 1 : 1;
}

function* rowsOf({ text, sign, format }: TextLine, options: RowStyle & Showing, after: () => number): Generator<Row> {
  const { columns, style, isCommand = false, isContent = false } = options;
  for (let [from, end, isRest] = [0, 0, false]; from === 0 || from < text.length; from = end || 1) {
    end = endOfPiece(text, from);
    let found: Map<string, string> | undefined = new Map<string, string>();
    const shown = (from === 0 ? (sign ?? "") : "") + showText(text.slice(from, end), { isCommand, isContent, found });
    for (const row of cutText(shown, columns - 5)) {
      yield { text: `  ${isRest ? ":" : "|"} ${format ? style(format, row) : row}`, isRest, after, ...(found ? { found } : {}) };
      [isRest, found] = [true, undefined];
    }
  }
}

/** Returns a place before a character that is escaped for itself alone. */
function endOfPiece(text: string, from: number): number {
  const most = from + longestPiece;
  if (text.length <= most) return text.length;
  for (let end = most; end > from; end--) if (/[!-~]/.test(text.charAt(end))) return end;
  return most;
}
