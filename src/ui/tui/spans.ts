import { cutWords } from "../text/wrap-text.ts";

export type Format = "bold" | "dim" | "italic" | "underline" | "inverse" | "green" | "red" | "yellow" | "cyan";

/** Formats a text for the terminal; without colours it returns the text. */
export type Style = (formats: readonly Format[], text: string) => string;

/** The width and the style of rows. */
export interface Layout {
  readonly columns: number;
  readonly style: Style;
}

/** Text of one format, escaped already. A line feed in it breaks the row. */
export interface Span {
  readonly text: string;
  readonly formats: readonly Format[];
}

export function span(text: string, ...formats: Format[]): Span {
  return { text, formats };
}

/** Rows of spans, broken between words. `indent` stands before each row but the first, which `first` begins. */
export function wrapSpans(spans: readonly Span[], layout: Layout, { first = "", indent = "" } = {}): string[] {
  const { columns, style } = layout;
  const rows: string[] = [];
  for (const line of splitLines(spans)) {
    const text = line.map((one) => one.text).join("");
    let at = 0;
    for (const row of cutWords(text, Math.max(8, columns - indent.length))) {
      const styled = sliceSpans(line, at, at + row.length).map((one) => style(one.formats, one.text));
      rows.push(`${rows.length === 0 ? first : indent}${styled.join("")}`);
      at += row.length;
    }
  }
  return rows;
}

function splitLines(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  for (const { text, formats } of spans) {
    for (const [index, piece] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      lines.at(-1)?.push({ text: piece, formats });
    }
  }
  return lines;
}

function sliceSpans(spans: readonly Span[], from: number, to: number): Span[] {
  const parts: Span[] = [];
  let at = 0;
  for (const { text, formats } of spans) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (part !== "") parts.push({ text: part, formats });
    at += text.length;
  }
  return parts;
}
