import { isHarmlessAwkProgram } from "./awk-program.ts";
import { optionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type ReadProgram } from "./program.ts";

export const awkOptions = optionTable(
  "F|field-separator= v|assign= version help !f|file= !e|source= !E|exec= !i|include= !l|load=",
);

/** awk runs programs and writes files from its own language. */
export const readAwk: ReadProgram = ({ words }) => {
  const { options, operands, unknown } = readOptions(words, awkOptions);
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` is not known to be harmless`));
  const [first] = operands;
  const program = first === undefined ? undefined : words[first];
  if (program !== undefined && (program.kind !== "static" || !isHarmlessAwkProgram(program.value))) {
    hatches.push(hatch("its program can write files or run programs"));
  }
  // gawk reads from a connection where a file has such a name.
  if (operands.some((index) => words[index]?.value.startsWith("/inet")))
    hatches.push(hatch("`/inet` connects to another machine"));
  const texts = new Set(options.map(({ index }) => index));
  if (first !== undefined) texts.add(first);
  return { hatches, effect: "read", texts };
};
