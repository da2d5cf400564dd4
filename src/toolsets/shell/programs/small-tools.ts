import type { ShellWord } from "../parse/plan.ts";
import { findOption, readOptions } from "./options.ts";
import { patternTools } from "./pattern-tools.ts";
import { type Hatch, hatch, knownOptions, type ReadProgram } from "./program.ts";
import { readerOptions, smallOptions } from "./reader-options.ts";
import { readPrintf, readTest } from "./shell-words.ts";

/** `uniq INPUT OUTPUT`. */
const readUniq: ReadProgram = ({ words }) => {
  const { operands, unknown } = readOptions(words, smallOptions.uniq);
  const writes = !isOneFile(words, operands);
  if (unknown !== undefined) return { hatches: [hatch(`\`${unknown}\` is not known to be harmless`)], effect: "write" };
  return { hatches: writes ? [hatch("its second operand is a file that it writes")] : [], effect: writes ? "write" : "read" };
};

/** Behind the first operand some take whatever comes for the file to write, also `--` and `-c`. */
function isOneFile(words: readonly ShellWord[], operands: readonly number[]): boolean {
  const [first] = operands;
  return first === undefined || (first === words.length - 1 && words[first]?.kind === "static");
}

/** less and more obey commands among their arguments. */
const readPager: ReadProgram = ({ words }) => {
  const { unknown, operands } = readOptions(words, smallOptions.less);
  const obeys = operands.find((index) => words[index]?.value.startsWith("+"));
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`));
  if (obeys !== undefined) hatches.push(hatch(`\`${words[obeys]?.value}\` is a command that it runs`));
  return { hatches, effect: "read" };
};

const readMan: ReadProgram = ({ words }) => {
  const { unknown, operands } = readOptions(words, smallOptions.man);
  const isFile = operands.some((index) => words[index]?.value.includes("/"));
  if (unknown !== undefined) return { hatches: [hatch(`\`${unknown}\` can run programs`)], effect: "read" };
  return { hatches: isFile ? [hatch("a page from a file can run programs")] : [], effect: "read" };
};

/** `xxd IN OUT`, `xxd -r`. */
const readXxd: ReadProgram = ({ words }) => {
  const { operands, unknown } = readOptions(words, smallOptions.xxd);
  if (unknown !== undefined) return { hatches: [hatch(`\`${unknown}\` is not known to be harmless`)], effect: "write" };
  const isOne = isOneFile(words, operands);
  return { hatches: isOne ? [] : [hatch("its second operand is a file that it writes")], effect: isOne ? "read" : "write" };
};

/** Compressors replace their files, unless they write to their output, list or test. Of `-t` and `-d` the last one counts. */
const readCompressor: ReadProgram = ({ words }) => {
  const read = readOptions(words, smallOptions.gzip);
  const looks = findOption(read, "-l", "-t") !== undefined && findOption(read, "-d") === undefined;
  if (read.unknown === undefined && (looks || findOption(read, "-c"))) return { hatches: [], effect: "read" };
  return { hatches: [hatch("it replaces files")], effect: "write" };
};

const readUnzip: ReadProgram = ({ words }) => {
  const read = readOptions(words, smallOptions.unzip);
  if (read.unknown === undefined && findOption(read, "-l", "-p", "-t", "-v", "-Z")) return { hatches: [], effect: "read" };
  return { hatches: [hatch("it unpacks files over others")], effect: "write" };
};

/** `jobs -x PROGRAM` starts one. */
const readJobs: ReadProgram = ({ words }) => {
  const { unknown } = readOptions(words, smallOptions.jobs);
  return { hatches: unknown === undefined ? [] : [hatch(`\`${unknown}\` can start a program`)], effect: "text" };
};

/** `date 01021530` sets the clock as `-s` does. */
const readDate: ReadProgram = (start) => {
  const { operands } = readOptions(start.words, readerOptions.date);
  const reading = knownOptions(readerOptions.date)(start);
  const sets = operands.some((index) => start.words[index]?.head.startsWith("+") !== true);
  return sets ? { ...reading, hatches: [...reading.hatches, hatch("it sets the clock")] } : reading;
};

export const smallTools: ReadonlyMap<string, ReadProgram> = new Map<string, ReadProgram>([
  ...patternTools,
  ...Object.entries(readerOptions).map(([name, table]) => [name, knownOptions(table)] as const),
  ["date", readDate],
  ["uniq", readUniq],
  ["xxd", readXxd],
  ["less", readPager],
  ["more", readPager],
  ["man", readMan],
  ["printf", readPrintf],
  ["test", readTest],
  ["[", readTest],
  ["jobs", readJobs],
  ...["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd"].map((name) => [name, readCompressor] as const),
  ["unzip", readUnzip],
]);
