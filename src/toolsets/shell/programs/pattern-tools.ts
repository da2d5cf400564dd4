import { findOption, type OptionTable, readOptions } from "./options.ts";
import { hatch, knownOptions, type ReadProgram } from "./program.ts";
import { patternOptions } from "./reader-options.ts";

interface PatternTool {
  /** Options that take the pattern's place. */
  readonly given: readonly string[];
  /** Options whose value is a path. */
  readonly paths: readonly string[];
}

/** `grep PATTERN FILE…`: the first operand and most values are no paths. Of what is not understood all could be paths. */
function patternFirst(table: OptionTable, { given, paths }: PatternTool): ReadProgram {
  const read = knownOptions(table);
  return (start) => {
    const { words } = start;
    const { options, operands, unknown } = readOptions(words, table);
    if (unknown !== undefined) return read(start);
    const texts = new Set(
      options.filter(({ name, value }) => value !== undefined && !paths.includes(name)).map(({ index }) => index),
    );
    const [first] = operands;
    if (first !== undefined && findOption({ options }, ...given) === undefined) texts.add(first);
    return { ...read(start), texts };
  };
}

/** Patterns from a file outside the scopes: what does not match them tells what they are. */
function readGrep(table: OptionTable): ReadProgram {
  const read = patternFirst(table, { given: ["-e", "-f"], paths: ["-f", "--exclude-from"] });
  return (start) => {
    const reading = read(start);
    const { options } = readOptions(start.words, table);
    const elsewhere = options.some(({ name, value = "" }) => name === "-f" && leavesFolder(value));
    return elsewhere
      ? { ...reading, hatches: [...reading.hatches, hatch("`-f` reads patterns from a file elsewhere")] }
      : reading;
  };
}

function leavesFolder(path: string): boolean {
  return path.startsWith("/") || path.startsWith("~") || path.split("/").includes("..");
}

/** jq's filter is a language that reads, and no more; but it can name modules that it reads, data among them. */
function readJq(table: OptionTable): ReadProgram {
  const read = patternFirst(table, { given: ["-f"], paths: [] });
  return (start) => {
    const reading = read(start);
    const imports = start.words.some(({ value }) => /(?:^|[;\n])\s*(?:import|include)\b/.test(value));
    return imports ? { ...reading, hatches: [...reading.hatches, hatch("its filter reads files that it names")] } : reading;
  };
}

const { grep, egrep, fgrep, jq, rg, ag, ack } = patternOptions;

/** Programs whose first operand is a pattern or a filter. */
export const patternTools: ReadonlyMap<string, ReadProgram> = new Map<string, ReadProgram>([
  ["grep", readGrep(grep)],
  ["egrep", readGrep(egrep)],
  ["fgrep", readGrep(fgrep)],
  ["zgrep", readGrep(grep)],
  ["jq", readJq(jq)],
  ["rg", patternFirst(rg, { given: ["-e", "-f", "--files", "--type-list"], paths: ["-f", "--ignore-file"] })],
  ["ag", patternFirst(ag, { given: ["-g"], paths: ["-p"] })],
  ["ack", patternFirst(ack, { given: ["--match", "-f"], paths: ["--ignore-file"] })],
]);
