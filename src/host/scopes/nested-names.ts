import { nameSet } from "../../util/text/name-set.ts";

/** Relative paths by their first name. */
export type NestedNames = ReadonlyMap<string, readonly (readonly string[])[]>;

export function nestNames(...texts: readonly string[]): NestedNames {
  const split = [...nameSet(...texts)].map((path) => path.split("/"));
  return Map.groupBy(split, ([first = ""]) => first);
}

/** Returns whether some components end on the way to one of the paths: `home/.aws` leads to `.aws/config`. */
export function leadsToNested(components: readonly string[], nested: NestedNames): boolean {
  return components.some((first, start) => {
    const rest = components.slice(start);
    return nested.get(first)?.some((path) => path.length > rest.length && rest.every((name, index) => path[index] === name));
  });
}

/** Returns whether one of the paths is part of some components: `.aws/config` is part of `home/.aws/config/x`. */
export function holdsNested(components: readonly string[], nested: NestedNames): boolean {
  return components.some((first, start) =>
    nested.get(first)?.some((path) => path.every((name, index) => components[start + index] === name)),
  );
}
