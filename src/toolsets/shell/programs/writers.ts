import type { ShellWord } from "../parse/plan.ts";
import { readOptions } from "./options.ts";
import { type Hatch, hatch, type ReadProgram } from "./program.ts";

/** Programs whose purpose is to write: a rule allows that, inside the scopes and never to protected names. */
function writer(flags: string, long: string, more: { readonly valued?: string; readonly longValued?: string } = {}): ReadProgram {
  return ({ words }) => {
    const { unknown } = readOptions(words, { flags, long, ...more });
    const hatches = unknown === undefined ? [] : [hatch(`\`${unknown}\` is not known to stay in place`)];
    return { hatches, effect: "write" };
  };
}

const readRemove = writer("rRfdvI", "--recursive --force --dir --verbose --one-file-system --preserve-root --interactive");
const readMakeDirectory = writer("pv", "--parents --verbose");
const readRemoveDirectory = writer("pv", "--parents --verbose --ignore-fail-on-non-empty");
const readTouch = writer("acm", "--no-create", { valued: "dtr", longValued: "--date --reference --time" });
const readTee = writer("ai", "--append --ignore-interrupts");

/** The last operand, or what `-t` names, is written; the others are read by `cp` and removed by `mv`. */
function mover(removes: boolean): ReadProgram {
  const table = {
    flags: "aRrfinuvpPLHdxTl",
    valued: "t",
    long: "--recursive --force --interactive --no-clobber --update --verbose --archive --preserve --no-target-directory --target-directory --dereference --no-dereference --parents",
    longValued: "--target-directory",
  };
  return ({ words }) => {
    const { options, operands, unknown } = readOptions(words, table);
    const hatches: Hatch[] = [];
    if (unknown !== undefined || options.some(({ name }) => name === "-l"))
      hatches.push(hatch(`\`${unknown ?? "-l"}\` is not known to be harmless`));
    const named = options.find(({ name }) => name === "-t" || name === "--target-directory");
    const target = named?.index ?? operands.at(-1);
    const sources = operands.filter((index) => index !== target);
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
  ["rm", readRemove],
  ["mkdir", readMakeDirectory],
  ["rmdir", readRemoveDirectory],
  ["touch", readTouch],
  ["tee", readTee],
  ["cp", mover(false)],
  ["mv", mover(true)],
  ["dd", readDd],
]);
