import { nearestNames } from "./nearest-names.ts";

/** ``did you mean `toolsets`?``; undefined if no candidate is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const names = nearestNames(name, candidates);
  return names.length === 0 ? undefined : `did you mean ${quoteNames(names, " or ")}?`;
}

/** Names in backticks, with commas between them and `last` before the last one. */
export function quoteNames(names: Iterable<string>, last = ", "): string {
  return joinNames(
    Array.from(names, (name) => `\`${name}\``),
    last,
  );
}

/** Names with commas between them and `last` before the last one. */
export function joinNames(names: readonly string[], last: string): string {
  return [names.slice(0, -1).join(", "), ...names.slice(-1)].filter((part) => part !== "").join(last);
}
