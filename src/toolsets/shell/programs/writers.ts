import type { ShellWord } from "../parse/plan.ts";
import { findOption, type OptionTable, optionTable, readOptions } from "./options.ts";
import { hatch, type ReadProgram } from "./program.ts";

export const writerOptions = {
  rm: optionTable("r|R|recursive f|force d|dir v|verbose i I interactive? one-file-system preserve-root? help version"),
  mkdir: optionTable("p|parents v|verbose help version"),
  rmdir: optionTable("p|parents v|verbose ignore-fail-on-non-empty help version"),
  touch: optionTable("a c|no-create m f h|no-dereference d|date= t= r|reference= time= help version"),
  tee: optionTable("a|append i|ignore-interrupts p output-error? help version"),
  cp: optionTable(
    `a|archive R|r|recursive f|force i|interactive n|no-clobber u v|verbose p preserve? no-preserve= L|dereference P|no-dereference H d
    x|one-file-system T|no-target-directory t|target-directory= parents reflink? sparse= strip-trailing-slashes help version !l|link
    !s|symbolic-link`,
  ),
  mv: optionTable(
    `f|force i|interactive n|no-clobber u v|verbose T|no-target-directory t|target-directory= strip-trailing-slashes help version`,
  ),
} as const;

/** Programs whose purpose is to write: a rule allows that, inside the scopes and never to protected names. */
function writer(table: OptionTable): ReadProgram {
  return ({ words }) => {
    const { unknown } = readOptions(words, table);
    const hatches = unknown === undefined ? [] : [hatch(`\`${unknown}\` is not known to stay in place`)];
    return { hatches, effect: "write" };
  };
}

/** The last operand, or what `-t` names, is written; the others are read by `cp` and removed by `mv`. */
function mover(table: OptionTable, removes: boolean): ReadProgram {
  return ({ words }) => {
    const read = readOptions(words, table);
    const target = findOption(read, "-t")?.index ?? read.operands.at(-1);
    const sources = read.operands.filter((index) => index !== target);
    const hatches = read.unknown === undefined ? [] : [hatch(`\`${read.unknown}\` is not known to be harmless`)];
    return { hatches, effect: "write", ...(removes ? { moves: new Set(sources) } : { reads: new Set(sources) }) };
  };
}

/** `dd of=FILE`. */
const readDd: ReadProgram = ({ words }) => {
  const harmless = ["if=", "bs=", "count=", "skip=", "status=", "ibs=", "iflag="];
  const other = words.slice(1).find((word: ShellWord) => !harmless.some((start) => word.value.startsWith(start)));
  return {
    hatches: other === undefined ? [] : [hatch(`\`${other.value}\` writes where it is told to`)],
    effect: other === undefined ? "read" : "write",
  };
};

export const writers: ReadonlyMap<string, ReadProgram> = new Map([
  ...(["rm", "mkdir", "rmdir", "touch", "tee"] as const).map((name) => [name, writer(writerOptions[name])] as const),
  ["cp", mover(writerOptions.cp, false)],
  ["mv", mover(writerOptions.mv, true)],
  ["dd", readDd],
]);
