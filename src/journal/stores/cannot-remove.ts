import { readJournal } from "../read-journal.ts";
import { findOwnerState, type OwnerHost } from "./owner.ts";
import type { RecordReader } from "./record-place.ts";

/** A run stays: a process executes it, it waits for answers, or it is no run. */
export class CannotRemove extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CannotRemove";
  }
}

/** Rejects with a `CannotRemove` for a run that stays. A journal that cannot be read belongs to no process of this llm-do. */
export async function checkRemoval(host: OwnerHost, place: RecordReader): Promise<void> {
  const { unchecked } = await readJournal(place).catch(() => ({ unchecked: [] }));
  const stays = (why: string) => new CannotRemove(`${place.id} stays: ${why}`);
  const state = findOwnerState(host, place, unchecked);
  if (state === "runs") throw stays("a process executes it");
  if (state === "unknown") throw stays("it was executed on another machine, and whether it still is cannot be seen here");
  const end = unchecked.findLast(({ type }) => type === "run-end" || type === "attempt");
  if (end?.type === "run-end" && end.stopReason === "suspended") throw stays("it waits for answers");
}
