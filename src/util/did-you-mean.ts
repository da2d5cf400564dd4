import { nearestNames } from "./nearest-names.ts";

/** ``did you mean `toolsets`?``; undefined where no candidate is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const names = nearestNames(name, candidates);
  return names.length === 0 ? undefined : `did you mean ${quoteNames(names, " or ")}?`;
}

/** Names in backticks, with commas between them and `last` before the last one. */
export function quoteNames(names: Iterable<string>, last = ", "): string {
  const quoted = [...names].map((name) => `\`${name}\``);
  return [quoted.slice(0, -1).join(", "), ...quoted.slice(-1)].filter((part) => part !== "").join(last);
}
