import type { ShellWord } from "../parse/plan.ts";
import { findOption, optionTable, type ReadOptions, readOptions } from "./options.ts";
import { type Hatch, hatch, type Program, runs } from "./program.ts";

const options =
  optionTable(`t|list c|create x|extract|get z|gzip|gunzip|ungzip j|bzip2 J|xz zstd lzma a|auto-compress v|verbose exclude= exclude-vcs
  strip-components= wildcards no-wildcards anchored no-anchored ignore-case no-recursion numeric-owner totals? full-time
  p|same-permissions|preserve-permissions k|keep-old-files skip-old-files O|to-stdout sort= mtime= owner= group= f|file= C|directory=
  m|touch no-same-owner o h|dereference quoting-style= show-transformed-names|show-stored-names format= force-local X|exclude-from=
  b|blocking-factor= Z|compress|uncompress w|interactive|confirmation P|absolute-names l|check-links S|sparse U|unlink-first`);

/** Listing is free. Packing and unpacking must be spelt out by a rule. What runs programs always asks. */
export const tar: Program = {
  options,
  read: ({ words }) => {
    const dashed = withDash(words);
    const read = readOptions(dashed, options);
    const hatches: Hatch[] = [];
    if (read.unknown !== undefined) hatches.push(runs(`\`${read.unknown}\` can run programs, or is not known to be harmless`));
    const changes = changesOf(dashed, read);
    if (changes !== undefined) hatches.push(hatch(`it ${changes}`, words[1]?.value));
    const isRemote = read.options.some(({ name, value }) => name === "-f" && value?.includes(":") === true);
    if (isRemote) hatches.push(hatch("an archive with `:` in its name is fetched by another program"));
    return { hatches, effect: changes === undefined ? "read" : "write" };
  },
};

/** `tar xzf a.tgz`: the first word is options even without a dash. Letters with values take the words behind them in turn. */
function withDash(words: readonly ShellWord[]): readonly ShellWord[] {
  const [program, first, ...rest] = words;
  if (program === undefined || first === undefined || first.value.startsWith("-") || first.kind !== "static") return words;
  const takesValue = (letter: string) => options.byName.get(`-${letter}`)?.arity === "one";
  const letters = [...first.value].sort((a, b) => Number(takesValue(a)) - Number(takesValue(b)));
  const isPlain = letters.filter(takesValue).length <= 1;
  return [program, { ...first, value: isPlain ? `-${letters.join("")}` : "--unclear" }, ...rest];
}

function changesOf(words: readonly ShellWord[], read: ReadOptions): string | undefined {
  const unpacks = "unpacks files over others";
  if (read.unknown !== undefined || words.some(({ kind }) => kind === "dynamic") || findOption(read, "-x")) return unpacks;
  if (findOption(read, "-c")) return "writes an archive";
  return findOption(read, "-t") || words.length === 1 ? undefined : unpacks;
}
