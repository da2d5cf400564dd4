import { unescapeText } from "../../src/util/escape-text.ts";

const unshow = (shown: string) => shown.split("→   ").map(unescapeText).join("\t");

export interface ReadQuestion {
  /** Who asks for what, what it would do, why it asks, and the call. */
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
