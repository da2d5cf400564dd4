import type { ShellWord } from "../parse/plan.ts";
import { type OptionTable, type ReadOptions, readOptions } from "./options.ts";
import { type Hatch, hatch, type ReadProgram } from "./program.ts";

const table: OptionTable = {
  flags: "tcxzjJavpOkmhZWwPlSU",
  valued: "fCXb",
  long: `--list --create --extract --get --gzip --bzip2 --xz --zstd --lzma --auto-compress --verbose --exclude --exclude-vcs
    --strip-components --wildcards --no-wildcards --anchored --no-anchored --ignore-case --no-recursion --numeric-owner --totals
    --full-time --same-permissions --preserve-permissions --keep-old-files --skip-old-files --to-stdout --sort --mtime --owner
    --group --file --directory --touch --no-same-owner --quoting-style --show-transformed-names --format --force-local`.replaceAll(
    /\s+/g,
    " ",
  ),
  longValued: "--file --directory --exclude --strip-components --sort --mtime --owner --group --format --quoting-style",
};

/** Listing is free; packing and unpacking must be spelt out by a rule; what runs programs always asks. */
export const readTar: ReadProgram = ({ words }) => {
  const dashed = withDash(words);
  const read = readOptions(dashed, table);
  const hatches: Hatch[] = [];
  if (read.unknown !== undefined) hatches.push(hatch(`\`${read.unknown}\` can run programs, or is not known to be harmless`));
  const mode = modeOf(dashed, read);
  if (mode !== "list")
    hatches.push(hatch(`it ${mode === "pack" ? "writes an archive" : "unpacks files over others"}`, words[1]?.value));
  const remote = read.options.some(({ name, value }) => (name === "-f" || name === "--file") && value?.includes(":") === true);
  if (remote) hatches.push(hatch("an archive with `:` in its name is fetched by another program"));
  return { hatches, effect: mode === "list" ? "read" : "write" };
};

/** `tar xzf a.tgz`: the first word is options even without a dash. */
function withDash(words: readonly ShellWord[]): readonly ShellWord[] {
  const [program, first, ...rest] = words;
  if (program === undefined || first === undefined || first.value.startsWith("-") || first.kind !== "static") return words;
  return [program, ...oldStyle(first, rest)];
}

/** Letters with values take the words behind them one after another. */
function oldStyle(first: ShellWord, rest: readonly ShellWord[]): readonly ShellWord[] {
  const valued = [...first.value].filter((letter) => table.valued?.includes(letter)).length;
  const isPlain = valued <= 1;
  const letters = [...first.value].sort((a, b) => Number(isValued(a)) - Number(isValued(b))).join("");
  return [{ ...first, value: isPlain ? `-${letters}` : "--unclear" }, ...rest];
}

function isValued(letter: string): boolean {
  return table.valued?.includes(letter) === true;
}

function modeOf(words: readonly ShellWord[], { options, unknown }: ReadOptions): "list" | "pack" | "unpack" {
  const names = options.map(({ name }) => name);
  if (unknown !== undefined || words.some(({ kind }) => kind === "dynamic")) return "unpack";
  if (names.includes("-x") || names.includes("--extract") || names.includes("--get")) return "unpack";
  if (names.includes("-c") || names.includes("--create")) return "pack";
  return names.includes("-t") || names.includes("--list") || words.length === 1 ? "list" : "unpack";
}
