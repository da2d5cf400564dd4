import { nearestNames } from "../util/nearest-names.ts";
import type { DiagnosticNote } from "./diagnostic.ts";

/** ``did you mean `toolsets`?``: no note, or one, to spread into a diagnostic's notes. */
export function didYouMean(name: string, candidates: Iterable<string>): DiagnosticNote[] {
  const names = nearestNames(name, candidates).map((candidate) => `\`${candidate}\``);
  const last = names.pop();
  if (last === undefined) return [];
  const shown = names.length > 0 ? `${names.join(", ")} or ${last}` : last;
  return [{ message: `did you mean ${shown}?` }];
}
