import { factFields } from "../../src/journal/fact-fields.ts";
import type { FactType } from "../../src/protocol/fact.ts";
import { usualFact } from "./hostile-facts.ts";
import type { RecordedEntry } from "./poisoned-record.ts";

export type Path = readonly (string | number)[];

/** A place of a record that can hold a text of a stranger: a field of a type of fact, or of a line of another file. */
export interface Leaf {
  readonly in: FactType | "writes.jsonl" | "secrets.jsonl" | "index.jsonl" | "program.json";
  readonly path: Path;
}

/** The fields of all facts, those that are recorded and those that could be. */
export function leavesOfFacts(recorded: readonly RecordedEntry[]): readonly Leaf[] {
  return (Object.keys(factFields) as readonly FactType[]).flatMap((type) => {
    const facts = [usualFact(type), ...recorded.filter((entry) => entry.type === type)];
    const paths = facts.flatMap((fact) => [...textsIn(fact)]).filter((path) => path[0] !== "type" && path[0] !== "v");
    return unique(paths).map((path) => ({ in: type, path }));
  });
}

export function leavesOfLine(file: Exclude<Leaf["in"], FactType>, line: object): readonly Leaf[] {
  return unique([...textsIn(line)]).map((path) => ({ in: file, path }));
}

function unique(paths: readonly Path[]): readonly Path[] {
  return [...new Map(paths.map((path) => [path.join("\n"), path])).values()];
}

/** The paths of all texts in a value. */
export function* textsIn(value: unknown, path: Path = []): Iterable<Path> {
  if (typeof value === "string") yield path;
  else if (typeof value === "object" && value !== null)
    for (const [name, member] of Object.entries(value))
      yield* textsIn(member, [...path, Array.isArray(value) ? Number(name) : name]);
}

/** A value with another member at a path, which is made where it is missing. */
export function withLeaf(value: unknown, [name, ...rest]: Path, leaf: unknown): unknown {
  if (name === undefined) return leaf;
  if (typeof name === "number") {
    const list: readonly unknown[] = Array.isArray(value) ? value : [];
    const at = Math.min(name, list.length);
    return at < list.length ? list.with(at, withLeaf(list[at], rest, leaf)) : [...list, withLeaf(undefined, rest, leaf)];
  }
  const object = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  return { ...object, [name]: withLeaf((object as Record<string, unknown>)[name], rest, leaf) };
}

/** A text of a stranger in a record. */
export interface Poison {
  readonly leaf: Leaf;
  readonly value: unknown;
  /** From 0 to 1: which of the facts of that type has it. */
  readonly which: number;
}

/** The record with one field of one fact changed; a fact of its type is added where there is none. */
export function poisonFacts(entries: readonly RecordedEntry[], { leaf, value, which }: Poison): readonly RecordedEntry[] {
  const at = entries.flatMap((entry, place) => (entry.type === leaf.in ? [place] : []));
  const chosen = at[Math.floor(which * at.length)];
  const change = (entry: RecordedEntry) => withLeaf(entry, leaf.path, value) as RecordedEntry;
  if (chosen !== undefined) return entries.map((entry, place) => (place === chosen ? change(entry) : entry));
  const last = entries.at(-1) ?? { type: "run-end" };
  const added = change({ ...last, ...usualFact(leaf.in as FactType) });
  return [...entries.slice(0, -1), added, { ...last, n: Number(last["n"]) + 1 }];
}
