import { readOptions } from "./options.ts";
import { type Hatch, hatch, type ReadProgram } from "./program.ts";

const table = { valued: "Fv", long: "--field-separator --assign --version --help", longValued: "--field-separator --assign" };

/** awk runs programs and writes files from its own language. */
export const readAwk: ReadProgram = ({ words }) => {
  const { options, operands, unknown } = readOptions(words, table);
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`));
  const [first] = operands;
  const program = first === undefined ? undefined : words[first];
  if (program !== undefined && (program.kind !== "static" || !isHarmlessAwkProgram(program.value))) {
    hatches.push(hatch("its program can write files or run programs"));
  }
  const texts = new Set(options.map(({ index }) => index));
  if (first !== undefined) texts.add(first);
  return { hatches, effect: "read", texts };
};

/**
 * Looks at the raw text, strings and expressions included: nothing that awk could read as a call, a pipe or a redirected
 * print is in it. Stricter than awk's grammar, and never wrong about it.
 */
export function isHarmlessAwkProgram(program: string): boolean {
  if (["system", "getline", "@", "ARGV", "\\\n"].some((word) => program.includes(word))) return false;
  if (program.replaceAll("||", "").includes("|")) return false;
  const print = program.indexOf("print");
  return print === -1 || !program.slice(print).replaceAll(">=", "").includes(">");
}
