/** The names of a table whose lines are subjects. Names are separated by blanks. */
export function listNames(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(" "));
}

/** Relative paths by their first name. */
export type NestedNames = ReadonlyMap<string, readonly (readonly string[])[]>;

export function nestNames(paths: readonly string[]): NestedNames {
  const split = paths.map((path) => path.split("/"));
  return Map.groupBy(split, ([first = ""]) => first);
}

/** Returns whether one of the paths is part of some components: `.aws/config` is part of `home/.aws/config/x`. */
export function holdsNested(components: readonly string[], nested: NestedNames): boolean {
  return components.some((first, start) =>
    nested.get(first)?.some((path) => path.every((name, index) => components[start + index] === name)),
  );
}
