import type { ShellWord } from "../parse/plan.ts";
import { type DangerTable, findDanger, readOptions } from "./options.ts";
import { type Hatch, hatch, type ProgramReading, type ReadProgram } from "./program.ts";

/** A program that reads, but for some options. */
export function readerBut(why: string, table: DangerTable, more: Partial<ProgramReading> = {}): ReadProgram {
  return ({ words }) => {
    const danger = findDanger(words, table);
    const hatches = danger === undefined ? [] : [hatch(`\`${danger}\` ${why}`)];
    return { effect: "read", ...more, hatches };
  };
}

/** `grep PATTERN FILE…`: the first operand is no path, unless an option gives the pattern. */
export function patternFirst(inner: ReadProgram, valued: string, patternLetters = "e"): ReadProgram {
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
export const readGrep: ReadProgram = patternFirst(({ words }) => {
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

/** `uniq INPUT OUTPUT`. */
export const readUniq: ReadProgram = ({ words }) => {
  const table = {
    flags: "cdDiuz",
    valued: "fsw",
    long: "--count --repeated --all-repeated --ignore-case --unique --zero-terminated --skip-fields --skip-chars --check-chars --group --help --version",
    longValued: "--skip-fields --skip-chars --check-chars",
  };
  const { operands, unknown } = readOptions(words, table);
  const writes = operands.length > 1 || operands.some((index) => words[index]?.kind !== "static");
  if (unknown !== undefined) return { hatches: [hatch(`\`${unknown}\` is not known to be harmless`)], effect: "write" };
  return { hatches: writes ? [hatch("its second operand is a file that it writes")] : [], effect: writes ? "write" : "read" };
};

/** less and more obey commands among their arguments. */
export const readPager: ReadProgram = ({ words }) => {
  const { unknown, operands } = readOptions(words, { flags: "NSRFXeEiIMmnrsfdcQqgGwWaABJuUVLp", long: "--help --version" });
  const obeys = operands.find((index) => words[index]?.value.startsWith("+"));
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`));
  if (obeys !== undefined) hatches.push(hatch(`\`${words[obeys]?.value}\` is a command that it runs`));
  return { hatches, effect: "read" };
};

export const readMan: ReadProgram = ({ words }) => {
  const { unknown, operands } = readOptions(words, { flags: "kfawK", long: "--help --version --all --where" });
  const isFile = operands.some((index) => words[index]?.value.includes("/"));
  if (unknown !== undefined) return { hatches: [hatch(`\`${unknown}\` can run programs`)], effect: "read" };
  return { hatches: isFile ? [hatch("a page from a file can run programs")] : [], effect: "read" };
};

/** `printf -v NAME` and `test -v NAME` evaluate what stands in brackets of the name. */
export const readPrintf: ReadProgram = ({ words }) => {
  const [, first] = words;
  const isSafe = first === undefined || (first.kind === "static" ? !first.value.startsWith("-v") : first.head !== "");
  return { hatches: isSafe ? [] : [hatch("`-v` sets a variable")], effect: "text", takesAnything: true };
};

export const readTest: ReadProgram = ({ words }) => {
  const evaluates = words.some(({ value }) => value === "-v" || value === "-R");
  return { hatches: evaluates ? [hatch("`-v` evaluates a name")] : [], effect: "read" };
};

/** jq's filter is a language that reads, and no more. */
export const readJq: ReadProgram = patternFirst(
  readerBut("reads code or files elsewhere", {
    letters: "L",
    long: "--from-file --rawfile --slurpfile --library-path --run-tests",
  }),
  "f",
  "",
);

export const readDate: ReadProgram = readerBut("sets the clock", { letters: "s", long: "--set" });

/** `xxd IN OUT`, `xxd -r`. */
export const readXxd: ReadProgram = ({ words }) => {
  const { operands, unknown } = readOptions(words, { flags: "abeipuEC", valued: "cglonsR" });
  if (unknown !== undefined) return { hatches: [hatch(`\`${unknown}\` is not known to be harmless`)], effect: "write" };
  const isOne = operands.length < 2 && operands.every((index) => words[index]?.kind === "static");
  return { hatches: isOne ? [] : [hatch("its second operand is a file that it writes")], effect: isOne ? "read" : "write" };
};

/** Compressors replace their files, unless they are told to write to their output, to list or to test. */
export const readCompressor: ReadProgram = ({ words }) => {
  const { options, unknown } = readOptions(words, {
    flags: "cdkltvqn123456789",
    long: "--stdout --to-stdout --decompress --list --test --keep --verbose --quiet",
  });
  const isReading = options.some(({ name }) => ["-c", "-l", "-t", "--stdout", "--to-stdout", "--list", "--test"].includes(name));
  if (unknown === undefined && isReading) return { hatches: [], effect: "read" };
  return { hatches: [hatch("it replaces files")], effect: "write" };
};

export const readUnzip: ReadProgram = ({ words }) => {
  const { options, unknown } = readOptions(words, { flags: "lptvZ12qzh" });
  const isReading = options.some(({ name }) => ["-l", "-p", "-t", "-v", "-Z"].includes(name));
  if (unknown === undefined && isReading) return { hatches: [], effect: "read" };
  return { hatches: [hatch("it unpacks files over others")], effect: "write" };
};
