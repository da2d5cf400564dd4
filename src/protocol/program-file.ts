/** The end of the name of a file with a program that the interpreter alone executes. Before it stands the name of its tool. */
export const programSuffix = ".program.js";

/** Says what a file of code can do: a program in the interpreter can do nothing but call what its worker calls. */
export function powerOfCode(file: string): string {
  return file.endsWith(programSuffix) ? "in the interpreter" : "with all of your rights";
}
