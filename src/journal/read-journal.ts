import { basename, dirname } from "node:path";
import type { Host } from "../host/host.ts";
import type { Fact, JournalEntry } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { errorMessage } from "../util/error-message.ts";
import type { Secret } from "../util/redactor.ts";
import { sha256 } from "../util/sha256.ts";
import { internalize, type References } from "./blobs.ts";
import { factFields, findEntryProblem } from "./fact-fields.ts";
import { readPrivateFolder } from "./private-folder.ts";
import { RunSecrets } from "./run-secrets.ts";
import { UnreadableJournal } from "./unreadable-journal.ts";

/** In bytes. Long values are kept beside it. */
const mostOfJournal = 200_000_000;

export interface JournalContents {
  /** Journals of version 1 can be shown, and not replayed. Their entries are brought into the form of today, as far as it goes. */
  readonly version: 1 | 2;
  readonly entries: readonly JournalEntry[];
  /** True where the last line was cut off, as by a crash; it is left out. */
  readonly torn: boolean;
}

/**
 * Reads a run's journal as it was written: secrets are tokens, long values references to blobs. A torn last line is expected; a
 * line that is no entry rejects with an `UnreadableJournal`. Fields of an entry are not checked.
 */
export async function readJournal(host: Host, directory: string): Promise<JournalContents> {
  const path = `${directory}/journal.jsonl`;
  const text = await host.files.readText(path, { maxBytes: mostOfJournal, within: dirname(directory) });
  const lines = text.split("\n");
  const rest = lines.pop() ?? "";
  const parsed = lines.map((line, index) => parseEntry(line, { path, index }));
  const version = parsed[0]?.["v"] === 1 ? 1 : 2;
  const entries = parsed.map((entry, index) => checkNumbers(entry, { path, index, version }));
  return { version, entries, torn: rest !== "" };
}

/** What a run recorded. */
export interface RunRecord {
  readonly facts: readonly Fact[];
  /** The ids that the run's secrets have in it. */
  readonly secrets: RunSecrets;
  /** False where the run recorded a secret and its private folder is gone: tokens then stand for what cannot be restored. */
  readonly isWhole: boolean;
}

/**
 * Reads the facts of a run with the content of their blobs and secrets. A secret known by name is restored from `known`, today's
 * values, and only where the run's private folder says that this run recorded it: text of a journal names no secret by itself.
 * Rejects with an `UnreadableJournal` where an entry lacks a field that its type needs, or what it refers to is gone or changed.
 */
export async function readRecord(host: Host, directory: string, known: readonly Secret[] = []): Promise<RunRecord> {
  const path = `${directory}/journal.jsonl`;
  const { version, entries } = await readJournal(host, directory);
  if (version === 1) throw new UnreadableJournal(path, 1, `${oldVersion}, and not replayed`);
  const kept = await readPrivateFolder(host, { runId: basename(directory), known });
  let isWhole = true;
  const references: References = {
    secretOf: (token) => {
      const value = kept?.secretOf(token);
      if (value === undefined) isWhole = false;
      return value;
    },
    readBlob: createBlobReader(host, directory),
    readPrivate: async (name) => {
      if (!isDigest.test(name)) throw new Error(`there is no private file ${name}`);
      if (!kept) isWhole = false;
      return kept?.readBlob(name);
    },
  };
  const facts: Fact[] = [];
  for (const [index, entry] of entries.entries()) {
    const { v: _, n: __, time: ___, ...fact } = entry;
    try {
      const problem = findEntryProblem(entry);
      if (problem !== undefined) throw new Error(problem);
      facts.push((await internalize(fact, references, factFields[entry.type])) as Fact);
    } catch (thrown) {
      throw new UnreadableJournal(path, index + 1, errorMessage(thrown));
    }
  }
  return { facts, secrets: kept?.secrets ?? new RunSecrets(() => host.createKey()), isWhole };
}

export const oldVersion = "this journal has version 1: it can be shown";

const isDigest = /^[0-9a-f]{64}$/;

/** Reads each blob once. */
function createBlobReader(host: Host, directory: string): References["readBlob"] {
  const blobs = new Map<string, Promise<Uint8Array>>();
  const read = async (digest: string): Promise<Uint8Array> => {
    if (!isDigest.test(digest)) throw new Error(`there is no blob ${digest}`);
    const content = await host.files.readBytes(`${directory}/blobs/${digest}`, { within: dirname(directory) });
    if (sha256(content) !== digest) throw new Error(`the blob ${digest} was changed`);
    return content;
  };
  return (digest) => {
    const content = blobs.get(digest) ?? read(digest);
    blobs.set(digest, content);
    return content;
  };
}

interface Line {
  readonly path: string;
  readonly index: number;
}

function parseEntry(line: string, { path, index }: Line): Record<string, unknown> {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    throw new UnreadableJournal(path, index + 1, "this line is not JSON");
  }
  if (isRecord(entry) && typeof entry["type"] === "string") return entry;
  throw new UnreadableJournal(path, index + 1, "this line is not a journal entry");
}

function checkNumbers(
  entry: Record<string, unknown>,
  { path, index, version }: Line & { readonly version: 1 | 2 },
): JournalEntry {
  const { v, n } = entry;
  if (v !== version)
    throw new UnreadableJournal(path, index + 1, `this journal has version ${String(v)}; this llm-do reads version 2`);
  if (n !== index) throw new UnreadableJournal(path, index + 1, `entry ${index} is missing`);
  return (version === 1 ? upgradeEntry(entry) : entry) as unknown as JournalEntry;
}

/** Of version 1: a step's number is its key, and the result of a tool stood in its details. */
function upgradeEntry(entry: Record<string, unknown>): Record<string, unknown> {
  const { type, step, detail } = entry;
  const key = String(step);
  if (type !== "result" || !isRecord(detail)) return type === "intent" ? { ...entry, key } : entry;
  const error = { ok: false, error: detail["error"] ?? null };
  return { ...entry, key, outcome: { type: "value", value: detail["result"] ?? error } };
}
