import { dirname } from "node:path";
import type { Host } from "../host/host.ts";
import type { Fact, JournalEntry } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { errorMessage } from "../util/error-message.ts";
import { internalize } from "./blobs.ts";
import { findEntryProblem } from "./check-entry.ts";

/** In bytes. Long values are kept beside it. */
const mostOfJournal = 200_000_000;

export interface JournalContents {
  readonly entries: readonly JournalEntry[];
  /** True where the last line was cut off, as by a crash; it is left out. */
  readonly torn: boolean;
}

/** Thrown where a file is not a journal of a version that is known here: names the line and what is wrong with it. */
export class UnreadableJournal extends Error {
  constructor(path: string, line: number, problem: string) {
    super(`${path}:${line}: ${problem}`);
    this.name = "UnreadableJournal";
  }
}

/**
 * Reads a run's journal. A torn last line is expected; a line that is no entry rejects with an `UnreadableJournal`. Fields of an
 * entry are not checked. Long values are references to blobs.
 */
export async function readJournal(host: Host, directory: string): Promise<JournalContents> {
  const path = `${directory}/journal.jsonl`;
  const text = await host.files.readText(path, { maxBytes: mostOfJournal, within: dirname(directory) });
  const lines = text.split("\n");
  const rest = lines.pop() ?? "";
  const entries = lines.map((line, index) => parseEntry(line, { path, index }));
  return { entries, torn: rest !== "" };
}

/**
 * Reads the facts of a run with the content of their blobs. Rejects with an `UnreadableJournal` where an entry lacks a field that
 * its type needs, or a blob is gone.
 */
export async function readFacts(host: Host, directory: string): Promise<readonly Fact[]> {
  const { entries } = await readJournal(host, directory);
  const blobs = new Map<string, Promise<Uint8Array>>();
  const readBlob = (digest: string): Promise<Uint8Array> => {
    const isDigest = /^[0-9a-f]{64}$/.test(digest);
    const content =
      blobs.get(digest) ??
      (isDigest ? host.files.readBytes(`${directory}/blobs/${digest}`) : Promise.reject(new Error(`no blob: ${digest}`)));
    blobs.set(digest, content);
    return content;
  };
  const facts: Fact[] = [];
  for (const [index, entry] of entries.entries()) {
    const { v: _, n: __, time: ___, ...fact } = entry;
    try {
      const problem = findEntryProblem({ ...entry });
      if (problem !== undefined) throw new Error(problem);
      facts.push((await internalize(fact, readBlob)) as Fact);
    } catch (thrown) {
      throw new UnreadableJournal(`${directory}/journal.jsonl`, index + 1, errorMessage(thrown));
    }
  }
  return facts;
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
  if (entry["v"] !== 2)
    throw new UnreadableJournal(path, index + 1, `this journal has version ${String(entry["v"])}; this llm-do reads version 2`);
  if (entry["n"] !== index) throw new UnreadableJournal(path, index + 1, `entry ${index} is missing`);
  return entry as unknown as JournalEntry;
}
