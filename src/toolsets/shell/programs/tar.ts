import type { ShellWord } from "../parse/plan.ts";
import { findOption, optionTable, type ReadOptions, readOptions } from "./options.ts";
import { type Hatch, hatch, type ReadProgram } from "./program.ts";

export const tarOptions = optionTable(
  `t|list c|create x|extract|get z|gzip|gunzip|ungzip j|bzip2 J|xz zstd lzma a|auto-compress v|verbose exclude= exclude-vcs
  strip-components= wildcards no-wildcards anchored no-anchored ignore-case no-recursion numeric-owner totals? full-time
  p|same-permissions|preserve-permissions k|keep-old-files skip-old-files O|to-stdout sort= mtime= owner= group= f|file= C|directory=
  m|touch no-same-owner o h|dereference quoting-style= show-transformed-names|show-stored-names format= force-local X|exclude-from=
  b|blocking-factor= Z|compress|uncompress w|interactive|confirmation P|absolute-names l|check-links S|sparse U|unlink-first`,
);

/** Listing is free; packing and unpacking must be spelt out by a rule; what runs programs always asks. */
export const readTar: ReadProgram = ({ words }) => {
  const dashed = withDash(words);
  const read = readOptions(dashed, tarOptions);
  const hatches: Hatch[] = [];
  if (read.unknown !== undefined) hatches.push(hatch(`\`${read.unknown}\` can run programs, or is not known to be harmless`));
  const mode = modeOf(dashed, read);
  if (mode !== "list")
    hatches.push(hatch(`it ${mode === "pack" ? "writes an archive" : "unpacks files over others"}`, words[1]?.value));
  const remote = read.options.some(({ name, value }) => name === "-f" && value?.includes(":") === true);
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
  const valued = [...first.value].filter(isValued).length;
  const isPlain = valued <= 1;
  const letters = [...first.value].sort((a, b) => Number(isValued(a)) - Number(isValued(b))).join("");
  return [{ ...first, value: isPlain ? `-${letters}` : "--unclear" }, ...rest];
}

function isValued(letter: string): boolean {
  return tarOptions.byName.get(`-${letter}`)?.arity === "one";
}

function modeOf(words: readonly ShellWord[], read: ReadOptions): "list" | "pack" | "unpack" {
  if (read.unknown !== undefined || words.some(({ kind }) => kind === "dynamic")) return "unpack";
  if (findOption(read, "-x")) return "unpack";
  if (findOption(read, "-c")) return "pack";
  return findOption(read, "-t") || words.length === 1 ? "list" : "unpack";
}
