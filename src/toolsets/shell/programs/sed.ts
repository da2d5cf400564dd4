import { optionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type ReadProgram } from "./program.ts";
import { isHarmlessSedScript } from "./sed-script.ts";

export const sedOptions = optionTable(
  `n|quiet|silent E|r|regexp-extended s|separate u|unbuffered z|null-data posix sandbox debug help version e|expression=
  l|line-length= !i|in-place? !f|file=`,
);

/** sed's own language writes files and runs programs: only scripts that are understood are free. */
export const readSed: ReadProgram = ({ words }) => {
  const { options, operands, unknown } = readOptions(words, sedOptions);
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` is not known to be harmless (-i writes, -f runs a script)`));
  const given = options.filter(({ name }) => name === "-e");
  const first = operands[0];
  const scripts =
    given.length > 0 ? given.map(({ value, index }) => ({ text: value ?? "", index })) : scriptOperand(words, first);
  const isKnown = scripts.every(({ index }) => words[index]?.kind === "static");
  // Scripts are joined by line ends before they are read.
  if (!isKnown || !isHarmlessSedScript(scripts.map(({ text }) => text).join("\n"))) {
    hatches.push(hatch("its script can write files or run programs"));
  }
  return { hatches, effect: unknown === undefined ? "read" : "write", texts: new Set(scripts.map(({ index }) => index)) };
};

function scriptOperand(words: readonly { readonly value: string }[], index: number | undefined) {
  return index === undefined ? [] : [{ text: words[index]?.value ?? "", index }];
}
