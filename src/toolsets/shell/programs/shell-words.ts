import { hatch, type ReadProgram } from "./program.ts";

/** Moves what follows; the target is looked at as a path. */
export const readChangeDirectory: ReadProgram = ({ words }) => {
  const [, target, ...more] = words;
  const isPlain = target?.kind === "static" && !target.value.startsWith("-") && more.length === 0;
  return { hatches: isPlain ? [] : [hatch("it goes where nobody can tell")], effect: "read" };
};

export const readEval: ReadProgram = ({ words }) => ({
  hatches: [hatch("it runs its arguments as a script")],
  effect: "text",
  scripts: words.slice(1, 2),
  startsUnknown: words.slice(1).some(({ kind }) => kind !== "static"),
});

/** `printf -v NAME` and `test -v NAME` evaluate what stands in brackets of the name. */
export const readPrintf: ReadProgram = ({ words }) => {
  const [, first] = words;
  const isSafe = first === undefined || (first.kind === "static" ? !first.value.startsWith("-v") : first.head !== "");
  return { hatches: isSafe ? [] : [hatch("`-v` sets a variable")], effect: "text", takesAnything: true };
};

export const readTest: ReadProgram = ({ words }) => {
  const evaluates = words.some(({ value }) => value === "-v" || value === "-R");
  return { hatches: evaluates ? [hatch("`-v` evaluates a name")] : [], effect: "read" };
};
