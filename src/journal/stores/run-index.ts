import { type JournalEnds, readJournalEnds } from "../read-journal.ts";
import type { RecordReader } from "./record-place.ts";

/*
 * The index of a program's runs has a line for each: when the store began it. It says which of them is the newest, and no journal is read for
 * that. A run that it lacks is found by its folder, and entered.
 */

/** Begins with a line break, too: a line that a kill cut off spoils no other. */
export function toIndexLine(id: string, began: number): string {
  return `\n${JSON.stringify({ id, began })}\n`;
}

/** The time of each run, from its first line. Ignores lines that are none. */
export function readIndex(text: string): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const [, id = "", began] of text.matchAll(form)) if (!times.has(id)) times.set(id, Number(began));
  return times;
}

const form = /^\{"id":"([\w-]+)","began":(\d+)[,}]/gm;

/** A run by the ends of its journal. */
export interface RunEnds {
  readonly ends?: JournalEnds;
  /** Why the journal cannot be read. */
  readonly problem?: string;
}

/** Never rejects. */
export async function readRunEnds(place: RecordReader): Promise<RunEnds> {
  try {
    return { ends: await readJournalEnds(place) };
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message : "" };
  }
}
