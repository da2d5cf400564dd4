import { showText } from "./show-text.ts";

/** The lines of a file that is shown before it is written, each behind a margin, and escaped so that none looks like another. */
export function showLines(margin: string, text: string): string {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `${margin}${showText(line)}\n`)
    .join("");
}
