import { dirname } from "node:path";
import type { Host } from "../host/host.ts";
import type { JournalEntry } from "../protocol/journal-entry.ts";
import { isRecord } from "../protocol/json.ts";

export interface JournalContents {
  readonly entries: readonly JournalEntry[];
  /** True where the last line was cut off, as by a crash; it is left out. */
  readonly torn: boolean;
}

/** Thrown where a file is not a journal of a version that is known here: says the line and what is wrong with it. */
export class UnreadableJournal extends Error {
  constructor(path: string, line: number, problem: string) {
    super(`${path}:${line}: ${problem}`);
    this.name = "UnreadableJournal";
  }
}

/** In bytes. What is large is kept beside it. */
const mostOfJournal = 200_000_000;

/** Reads a run's journal. A torn last line is expected; damage anywhere else is not. */
export async function readJournal(host: Host, directory: string): Promise<JournalContents> {
  const path = `${directory}/journal.jsonl`;
  const text = await host.files.readText(path, { maxBytes: mostOfJournal, within: dirname(directory) });
  const lines = text.split("\n");
  const rest = lines.pop() ?? "";
  const entries = lines.map((line, index) => parseEntry(line, { path, index }));
  return { entries, torn: rest !== "" };
}

function parseEntry(line: string, { path, index }: { readonly path: string; readonly index: number }): JournalEntry {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    throw new UnreadableJournal(path, index + 1, "this line is not JSON");
  }
  if (!isRecord(entry) || typeof entry["type"] !== "string")
    throw new UnreadableJournal(path, index + 1, "this line is not a journal entry");
  if (entry["v"] !== 1)
    throw new UnreadableJournal(path, index + 1, `this journal has version ${String(entry["v"])}; this llm-do reads version 1`);
  if (entry["n"] !== index) throw new UnreadableJournal(path, index + 1, `entry ${index} is missing`);
  return entry as unknown as JournalEntry;
}
