/** The names of a table whose lines are subjects. Names are separated by blanks. */
export function listNames(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(" "));
}
