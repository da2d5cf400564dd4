import type { ShellWord } from "../parse/plan.ts";
import { readOptions } from "./options.ts";
import { patternTools } from "./pattern-tools.ts";
import { type Hatch, hatch, type ReadProgram, readerBut } from "./program.ts";
import { readPrintf, readTest } from "./shell-words.ts";

/** `uniq INPUT OUTPUT`. */
const readUniq: ReadProgram = ({ words }) => {
  const table = {
    flags: "cdDiuz",
    valued: "fsw",
    long: "--count --repeated --all-repeated --ignore-case --unique --zero-terminated --skip-fields --skip-chars --check-chars --group --help --version",
    longValued: "--skip-fields --skip-chars --check-chars",
  };
  const { operands, unknown } = readOptions(words, table);
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
  const { unknown, operands } = readOptions(words, { flags: "NSRFXeEiIMmnrsfdcQqgGwWaABJuUVLp", long: "--help --version" });
  const obeys = operands.find((index) => words[index]?.value.startsWith("+"));
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`));
  if (obeys !== undefined) hatches.push(hatch(`\`${words[obeys]?.value}\` is a command that it runs`));
  return { hatches, effect: "read" };
};

const readMan: ReadProgram = ({ words }) => {
  const { unknown, operands } = readOptions(words, { flags: "kfawK", long: "--help --version --all --where" });
  const isFile = operands.some((index) => words[index]?.value.includes("/"));
  if (unknown !== undefined) return { hatches: [hatch(`\`${unknown}\` can run programs`)], effect: "read" };
  return { hatches: isFile ? [hatch("a page from a file can run programs")] : [], effect: "read" };
};

/** `xxd IN OUT`, `xxd -r`. */
const readXxd: ReadProgram = ({ words }) => {
  const { operands, unknown } = readOptions(words, { flags: "abeipuEC", valued: "cglonsR" });
  if (unknown !== undefined) return { hatches: [hatch(`\`${unknown}\` is not known to be harmless`)], effect: "write" };
  const isOne = isOneFile(words, operands);
  return { hatches: isOne ? [] : [hatch("its second operand is a file that it writes")], effect: isOne ? "read" : "write" };
};

/** Compressors replace their files, unless they are told to write to their output, to list or to test. */
const readCompressor: ReadProgram = ({ words }) => {
  const { options, unknown } = readOptions(words, {
    flags: "cdkltvqn123456789",
    long: "--stdout --to-stdout --decompress --list --test --keep --verbose --quiet",
  });
  const isReading = options.some(({ name }) => ["-c", "-l", "-t", "--stdout", "--to-stdout", "--list", "--test"].includes(name));
  if (unknown === undefined && isReading) return { hatches: [], effect: "read" };
  return { hatches: [hatch("it replaces files")], effect: "write" };
};

const readUnzip: ReadProgram = ({ words }) => {
  const { options, unknown } = readOptions(words, { flags: "lptvZ12qzh" });
  const isReading = options.some(({ name }) => ["-l", "-p", "-t", "-v", "-Z"].includes(name));
  if (unknown === undefined && isReading) return { hatches: [], effect: "read" };
  return { hatches: [hatch("it unpacks files over others")], effect: "write" };
};

export const smallTools: ReadonlyMap<string, ReadProgram> = new Map<string, ReadProgram>([
  ...patternTools,
  ["uniq", readUniq],
  ["xxd", readXxd],
  ["less", readPager],
  ["more", readPager],
  ["man", readMan],
  ["printf", readPrintf],
  ["test", readTest],
  ["[", readTest],
  ...["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd"].map((name) => [name, readCompressor] as const),
  ["unzip", readUnzip],
  [
    "sort",
    readerBut("writes a file or runs a program", {
      letters: "oT",
      long: "--output --temporary-directory --compress-program --files0-from",
    }),
  ],
  ["yq", readerBut("writes files", { letters: "is", long: "--inplace --in-place --split-exp" })],
  ["date", readerBut("sets the clock", { letters: "s", long: "--set" })],
  ["file", readerBut("writes a file or runs a program", { letters: "CzZ", long: "--compile --uncompress" })],
  ["tree", readerBut("writes a file", { letters: "oR" })],
  ["shuf", readerBut("writes a file", { letters: "o", long: "--output" })],
  ["iconv", readerBut("writes a file", { letters: "o", long: "--output" })],
  ["wc", readerBut("reads names from a file", { long: "--files0-from" })],
  ["du", readerBut("reads names from a file", { long: "--files0-from" })],
]);
