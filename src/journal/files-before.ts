import type { Fact, FactOf } from "../protocol/fact.ts";
import { readRecord } from "./read-journal.ts";
import { findRecord, type RunReference } from "./stores/find-store.ts";
import type { StoreHost } from "./stores/folder-store.ts";

/** Files of a program, by their paths in its folder with `/`: the text of each, or null for one that is not there. */
export type FileTexts = ReadonlyMap<string, string | null>;

/**
 * Returns the worker files that a recorded run wrote, as they were before it: its program is the one without the workers that it created.
 * Empty for a run that created none, and for a record that cannot be read, which is refused if the run is to go on.
 */
export async function filesBefore(host: StoreHost, run: RunReference): Promise<FileTexts> {
  const { store, id } = findRecord(host, run);
  const read = store.look(id, async (record) => {
    const text = await record.readLog("journal.jsonl");
    return text?.includes('"creates":') ? (await readRecord(record)).facts : [];
  });
  return textsBefore(await read.catch(() => []));
}

/** A call whose end is not recorded may have written its file, too. */
function textsBefore(facts: readonly Fact[]): FileTexts {
  const before = new Map<string, string | null>();
  for (const fact of facts) {
    const file = fact.type === "verdict" ? fact.recorded?.["creates"] : undefined;
    if (fact.type !== "verdict" || typeof file !== "string" || before.has(file) || !hasBegun(facts, fact)) continue;
    const { replaces } = fact.facts;
    before.set(file, typeof replaces === "string" ? replaces : null);
  }
  return before;
}

function hasBegun(facts: readonly Fact[], { callPath }: FactOf<"verdict">): boolean {
  return facts.some((fact) => fact.type === "intent" && fact.kind === "tool" && fact.callPath === callPath);
}
