import { unescapeText } from "../../src/util/text/escape-text.ts";

const unshow = (shown: string) => shown.split("→   ").map(unescapeText).join("\t");

export interface ReadQuestion {
  /** Parts of the question: the caller, what the call would do, why it asks, and the call. */
  readonly paragraphs: readonly string[];
  readonly lines: readonly string[];
  /** The question's own words about its preview. */
  readonly notes: readonly string[];
}

/** Takes a question apart by its layout alone, and gives the text that was escaped. */
export function readQuestion(screen: string): ReadQuestion {
  const paragraphs: string[] = [];
  const lines: string[] = [];
  const notes: string[] = [];
  let open = paragraphs;
  for (const row of screen.split("\n")) {
    const [margin, rest] = [row.slice(0, 4), row.slice(4)];
    const isContinuation = margin === "    " || margin === "  : ";
    if (margin === "  | " || margin === "  : ") open = lines;
    else if (!isContinuation) open = row.startsWith("  (") ? notes : paragraphs;
    if (isContinuation) open.push((open.pop() ?? "") + rest);
    else open.push(margin === "  | " ? rest : row.startsWith("  ") ? row.slice(2) : row);
  }
  return { paragraphs: paragraphs.map(unshow), lines: lines.map(unshow), notes };
}

/** The lines of a file, without whether the last one ends in a line break. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** Applies a diff as it was read from a question. Throws where it does not fit the old text. */
export function applyDiff(lines: readonly string[], before: string): string[] {
  const old = linesOf(before);
  const now: string[] = [];
  let at = 0;
  for (const line of lines.slice(2)) {
    const [sign, text] = [line.slice(0, 1), line.slice(1)];
    const [, start, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? [];
    if (start !== undefined) {
      const end = count === "0" ? Number(start) : Number(start) - 1;
      now.push(...old.slice(at, end));
      at = end;
      continue;
    }
    if (sign === "+") now.push(text);
    else if (old[at] !== text) throw new Error(`the old text has no ${JSON.stringify(text)} in line ${at + 1}`);
    else if (sign === " ") now.push(text);
    if (sign !== "+") at++;
  }
  return [...now, ...old.slice(at)];
}
