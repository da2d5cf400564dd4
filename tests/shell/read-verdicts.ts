import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface VerdictCase {
  /** `bypasses.txt:12`. */
  readonly place: string;
  readonly command: string;
  readonly rules: string;
  readonly verdict: string;
  /** A part of the reason; empty where it does not matter. */
  readonly why: string;
}

const folder = join(import.meta.dirname, "verdicts");

const spelling: Readonly<Record<string, string>> = {
  "⏎": "\n",
  "⇥": "\t",
  "␍": "\r",
  "␀": "\u0000",
  "⍽": "\u00a0",
  "⌑": "\u200b",
};

/** The tables of verdicts: a case a line, `command ┃ rules ┃ verdict ┃ why`. */
export function readVerdicts(): readonly VerdictCase[] {
  return readdirSync(folder).sort().flatMap(readTable);
}

function readTable(file: string): VerdictCase[] {
  const lines = readFileSync(join(folder, file), "utf8").split("\n");
  return lines.flatMap((line, index) => {
    if (line.trim() === "" || (line.startsWith("#") && !line.includes("┃ ")) || line.startsWith("# command ┃")) return [];
    const [command = "", rules = "", verdict = "", why = ""] = line.split("┃").map((field) => field.trim());
    return [{ place: `${file}:${index + 1}`, command: spell(command), rules, verdict, why }];
  });
}

function spell(text: string): string {
  return text.replaceAll(/[⏎⇥␍␀⍽⌑]/gu, (mark) => spelling[mark] ?? mark);
}
