import type { ShellWord } from "../parse/plan.ts";
import { type Hatch, hatch, type ReadProgram, readerBut } from "./program.ts";

/** `grep PATTERN FILE…`: the first operand is no path, unless an option gives the pattern. */
function patternFirst(inner: ReadProgram, valued: string, patternLetters = "e"): ReadProgram {
  return (start) => {
    const { words } = start;
    const texts = new Set<number>();
    let isGiven = false;
    let first: number | undefined;
    for (let index = 1; index < words.length; index++) {
      const { value } = words[index] as ShellWord;
      if (value === "--") {
        first ??= index + 1;
        break;
      }
      if (value.startsWith("--")) isGiven ||= givesPattern(value);
      else if (value.startsWith("-") && value !== "-") {
        const last = value.at(-1) ?? "";
        const takesNext = [...value.slice(1)].findIndex((letter) => valued.includes(letter)) === value.length - 2;
        isGiven ||= [...value.slice(1)].some((letter) => patternLetters.includes(letter) || letter === "f");
        if (!takesNext) continue;
        index++;
        if (last !== "f") texts.add(index);
      } else first ??= index;
    }
    if (first !== undefined && !isGiven) texts.add(first);
    return { ...inner(start), texts };
  };
}

/** Whether a long option takes the pattern's place, abbreviated or not. `rg --files` has none at all. */
function givesPattern(option: string): boolean {
  const name = option.split("=", 1)[0] ?? option;
  return ["--regexp", "--file", "--files", "--from-file"].some((one) => one.startsWith(name) || name.startsWith(one));
}

/** Patterns from a file outside the scopes: what does not match them tells what they are. */
const readGrep: ReadProgram = patternFirst(({ words }) => {
  const hatches: Hatch[] = [];
  for (const [index, { value }] of words.entries()) {
    const file = fileOption(value, words[index + 1]?.value);
    if (file !== undefined && (file.startsWith("/") || file.startsWith("~") || file.split("/").includes(".."))) {
      hatches.push(hatch("`-f` reads patterns from a file elsewhere"));
    }
  }
  return { hatches, effect: "read" };
}, "efmABCdD");

function fileOption(value: string, next: string | undefined): string | undefined {
  if (value.startsWith("--f") && "--file".startsWith(value.split("=", 1)[0] ?? value))
    return value.includes("=") ? value.slice(value.indexOf("=") + 1) : next;
  if (!value.startsWith("-") || value.startsWith("--")) return undefined;
  const at = value.indexOf("f", 1);
  if (at === -1) return undefined;
  return value.slice(at + 1) === "" ? next : value.slice(at + 1);
}

/** jq's filter is a language that reads, and no more. */
const readJq: ReadProgram = patternFirst(
  readerBut("reads code or files elsewhere", {
    letters: "L",
    long: "--from-file --rawfile --slurpfile --library-path --run-tests",
  }),
  "f",
  "",
);

/** Programs whose first operand is a pattern or a filter. */
export const patternTools: ReadonlyMap<string, ReadProgram> = new Map<string, ReadProgram>([
  ["grep", readGrep],
  ["egrep", readGrep],
  ["fgrep", readGrep],
  ["jq", readJq],
  [
    "rg",
    patternFirst(readerBut("runs a program", { letters: "z", long: "--pre --hostname-bin --search-zip" }), "efgtTABCmMdjrE"),
  ],
  ["ag", patternFirst(readerBut("runs a program", { letters: "z", long: "--pager --search-zip" }), "ABCmGp")],
  ["ack", patternFirst(readerBut("runs a program", { letters: "x", long: "--pager --output --ackrc" }), "ABCm")],
]);
