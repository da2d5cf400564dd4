import { getOwn } from "../util/get-own.ts";
import { removedKeys } from "./removed-keys.ts";
import type { Place } from "./shape.ts";
import type { MapEntry, MapNode } from "./syntax-node.ts";

/** Keys that have another name by now, and take the same values. */
const renamedKeys: Readonly<Record<string, string>> = {
  schema_in_ref: "input",
  input_model_ref: "input",
  schema_out_ref: "output",
  output_schema_ref: "output",
  schema_object: "output",
};

/**
 * A worker's map with its older keys under their names of today. Each is told: as a hint where its value stays as it is,
 * as an error with what to write where it cannot.
 */
export function readOldSpellings(node: MapNode, place: Place): MapNode {
  const written = new Map(node.entries.map((entry) => [entry.key.value, entry]));
  const entries = node.entries.flatMap((entry) => {
    const current = getOwn(renamedKeys, entry.key.value);
    if (current !== undefined) return rename(entry, { current, written, place });
    const removed = getOwn(removedKeys, entry.key.value);
    if (removed === undefined) return [entry];
    const { code, message, note } = removed(entry.value);
    place.report(code, { message, span: entry.key.span, note: note });
    return [];
  });
  return { ...node, entries };
}

interface Renaming {
  readonly current: string;
  readonly written: Map<string, MapEntry>;
  readonly place: Place;
}

function rename({ key, value }: MapEntry, { current, written, place }: Renaming): MapEntry[] {
  const other = written.get(current);
  if (other !== undefined) {
    const notes = [{ message: `\`${other.key.value}\` is here`, span: other.key.span }, { message: `keep \`${current}\`` }];
    const message = `\`${key.value}\` is an older name of \`${current}\`, which is written too`;
    place.report("duplicate-key", { message, span: key.span, notes });
    return [];
  }
  const renamed = { key: { value: current, span: key.span }, value };
  written.set(current, { ...renamed, key });
  const note = `rename it to \`${current}\``;
  place.report("old-spelling", { message: `\`${key.value}\` is now called \`${current}\``, span: key.span, note });
  return [renamed];
}
