import type { Fact, JournalEntry } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import type { Secret } from "../util/secrets/redactor.ts";
import { sha256 } from "../util/sha256.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { internalize, type References } from "./blobs.ts";
import { factFields, findEntryProblem } from "./fact-fields.ts";
import { markStops } from "./mark-stops.ts";
import { withoutReferences } from "./references.ts";
import { RunSecrets } from "./run-secrets.ts";
import { type PrivateContents, readSecrets } from "./secret-keeper.ts";
import type { RecordReader } from "./stores/record-place.ts";
import { UnreadableJournal } from "./unreadable-journal.ts";

export interface JournalContents {
  /** Journals of version 1 can be shown, and not replayed. Their entries are brought into the form of today, as far as it goes. */
  readonly version: 1 | 2;
  readonly entries: readonly JournalEntry[];
  /** All, damaged ones included, each at its number. Its fields can be of any type. */
  readonly unchecked: readonly JournalEntry[];
  /** Problems of damaged entries, by their numbers. Such an entry is not among `entries`. Not looked for in version 1. */
  readonly problems: ReadonlyMap<number, string>;
  /** True if the last line was cut off, as by a crash; it is left out. */
  readonly torn: boolean;
  /** The number of the last lease: 1 for the process that began the run. */
  readonly epoch: number;
}

/** Returns the line that begins a lease: lines that a process with an earlier one appends after it do not count. */
export function leaseLine(epoch: number, time: number): string {
  return `${JSON.stringify({ v: 3, lease: epoch, time })}\n`;
}

const leaseForm = /^\{"v":3,"lease":(\d{1,9}),/;

/** Returns the lease that a line begins; undefined for an entry. */
export function leaseOf(line: string): number | undefined {
  const [, lease] = leaseForm.exec(line) ?? [];
  return lease === undefined ? undefined : Number(lease);
}

/**
 * Reads a run's journal as it was written: secrets are tokens, long values references to blobs. References to earlier entries are
 * replaced by what they stand for. A torn last line is expected. A line that is no entry rejects with an `UnreadableJournal`; an entry whose
 * fields are damaged is left out, and its problem listed. Empty if there is no journal.
 */
export async function readJournal(place: RecordReader): Promise<JournalContents> {
  const path = journalOf(place);
  const lines = ((await place.readLog("journal.jsonl")) ?? "").split("\n");
  const rest = lines.pop() ?? "";
  let version: 1 | 2 | undefined;
  let epoch = 1;
  const entries: JournalEntry[] = [];
  const problems = new Map<number, string>();
  for (const [index, text] of lines.entries()) {
    const lease = leaseOf(text);
    epoch = Math.max(epoch, lease ?? 1);
    if (lease !== undefined) continue;
    const one = parseEntry(text, { path, line: index + 1 });
    // Written by a process that had lost its lease.
    if (Number(one["epoch"] ?? 1) < epoch) continue;
    version ??= versionOf(one);
    if (one["n"] !== entries.length) throw new UnreadableJournal(path, index + 1, `entry ${entries.length} is missing`);
    const written = toEntry(one, { path, line: index + 1, version });
    const { entry, problem } = one["v"] === 3 ? withoutReferences(written, entries) : { entry: written };
    const found = version === 1 ? undefined : (findEntryProblem(entry) ?? problem);
    if (found !== undefined) problems.set(entries.length, found);
    entries.push(entry);
  }
  const whole = entries.filter(({ n }) => !problems.has(n));
  return { version: version ?? 2, entries: whole, unchecked: entries, problems, torn: rest !== "", epoch };
}

function journalOf({ path }: RecordReader): string {
  return `${path}/journal.jsonl`;
}

/** The first and the last entry of a run. Both are absent if nothing is recorded. */
export interface JournalEnds {
  readonly version: 1 | 2;
  readonly first?: JournalEntry;
  /** The start of the entry's own call. Absent if it is not near the beginning. */
  readonly entryCall?: JournalEntry;
  readonly last?: JournalEntry;
  /** True if the run was taken back after `last`. */
  readonly undone?: boolean;
}

const undoLine = /^\{"v":2,"n":\d+,"time":\d+(?:,"epoch":\d+)?,"type":"undo"/;

/** Returns whether a line is an entry of the run itself. */
function isOfRun(line: string): boolean {
  return leaseOf(line) === undefined && !undoLine.test(line);
}

/** In bytes. Few lines are longer. */
const firstLook = 65_536;

/**
 * Reads the first and the last entry, and not what lies between them. A run that was killed as it began has none. Rejects with an
 * `UnreadableJournal` as `readJournal` does, and if one of these entries is damaged.
 */
export async function readJournalEnds(place: RecordReader): Promise<JournalEnds> {
  const path = journalOf(place);
  for (let bytes = firstLook; ; bytes *= 16) {
    const ends = await place.readEnds(bytes);
    if (!ends) return { version: 2 };
    const [start, end] = [ends.start, ends.end].map((one) => Buffer.from(one).toString("utf8").split("\n")) as [
      string[],
      string[],
    ];
    const isWhole = ends.bytes <= bytes;
    // Text after the last line break is a line that was cut off; text before the first one may be half a line.
    const ended = end.slice(isWhole ? 0 : 1, -1);
    const [first, last] = [start.length > 1 ? start[0] : undefined, ended.findLast(isOfRun)];
    if (isWhole && (first === undefined || last === undefined)) return { version: 2 };
    if (first === undefined || last === undefined) continue;
    const version = versionOf(parseEntry(first, { path, line: 1 }));
    const call = start.slice(1, -1).findIndex((line) => line.includes('"type":"call-start"')) + 1;
    return {
      version,
      first: toWholeEntry(first, { path, line: 1, version }),
      ...(call > 0 ? { entryCall: toWholeEntry(start[call] ?? "", { path, line: call + 1, version }) } : {}),
      last: toWholeEntry(last, { path, line: "last line", version }),
      ...(undoLine.test(ended.at(-1) ?? "") ? { undone: true } : {}),
    };
  }
}

function versionOf(first: Readonly<Record<string, unknown>> | undefined): 1 | 2 {
  return first?.["v"] === 1 ? 1 : 2;
}

/** The record of a run. */
export interface RunRecord {
  readonly facts: readonly Fact[];
  /** When each fact was recorded: milliseconds since the epoch. */
  readonly times: readonly number[];
  /** The values of secrets that it keeps; undefined if it has none. */
  readonly kept: PrivateContents | undefined;
  /** True if the last line was cut off. */
  readonly torn: boolean;
  /** The number of the last lease. */
  readonly epoch: number;
  /** The ids that the run's secrets have in it. */
  readonly secrets: RunSecrets;
  /** False if the run recorded a secret and its values are gone: tokens then stand for what cannot be restored. */
  readonly isWhole: boolean;
}

/** Reads a run as it was written, damaged entries included, to add to its record. Rejects if a line is no entry. */
export async function readUnchecked(place: RecordReader, known: readonly Secret[] = [], createKey = noKey): Promise<RunRecord> {
  const { unchecked, torn, epoch } = await readJournal(place);
  const kept = await readSecrets(place, known);
  const times = unchecked.map(({ time }) => time);
  return { facts: unchecked, times, kept, torn, epoch, secrets: secretsOf(kept, createKey), isWhole: true };
}

function secretsOf(kept: PrivateContents | undefined, createKey: () => string): RunSecrets {
  return kept?.secrets ?? new RunSecrets(createKey);
}

/** For readers, who record nothing. */
function noKey(): string {
  return "0".repeat(64);
}

/**
 * Reads the facts of a run with the content of their blobs and secrets. A secret known by name is restored from `known`, today's
 * values, and only where the record's values say that this run recorded it: text of a journal names no secret by itself.
 * `createKey`: makes the key of its secrets where it has none. Rejects with an `UnreadableJournal` if an entry lacks a field that its type needs, or what it refers to is gone or changed.
 */
export async function readRecord(place: RecordReader, known: readonly Secret[] = [], createKey = noKey): Promise<RunRecord> {
  const path = journalOf(place);
  const { version, entries, problems, torn, epoch } = await readJournal(place);
  if (version === 1)
    throw new UnreadableJournal(path, 1, "this journal has version 1: it can be shown, and not resumed or replayed");
  for (const [index, problem] of problems) throw new UnreadableJournal(path, index + 1, problem);
  const kept = await readSecrets(place, known);
  let isWhole = true;
  const references: References = {
    secretOf: (token) => {
      const value = kept?.secretOf(token);
      if (value === undefined) isWhole = false;
      return value;
    },
    readBlob: createBlobReader(place),
    readPrivate: async (name) => {
      if (!isDigest.test(name)) throw new Error(`there is no private file ${name}`);
      if (!kept) isWhole = false;
      return kept?.readBlob(name);
    },
  };
  const facts: Fact[] = [];
  for (const [index, entry] of entries.entries()) {
    const { v: _, n: __, time: ___, epoch: ____, ...fact } = entry;
    try {
      facts.push((await internalize(fact, references, factFields[entry.type])) as Fact);
    } catch (thrown) {
      throw new UnreadableJournal(path, index + 1, errorMessage(thrown));
    }
  }
  const times = entries.map(({ time }) => time);
  return {
    facts: markStops(facts),
    times,
    kept,
    torn,
    epoch,
    secrets: secretsOf(kept, createKey),
    isWhole,
  };
}

const isDigest = /^[0-9a-f]{64}$/;

/** Reads each blob once. */
function createBlobReader(place: RecordReader): References["readBlob"] {
  const blobs = new Map<string, Promise<Uint8Array>>();
  const read = async (digest: string): Promise<Uint8Array> => {
    if (!isDigest.test(digest)) throw new Error(`there is no blob ${digest}`);
    const content = await place.readPart("blobs", digest);
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
  readonly line: number | "last line";
}

function parseEntry(text: string, { path, line }: Line): Record<string, unknown> {
  let entry: unknown;
  try {
    entry = JSON.parse(text);
  } catch {
    throw new UnreadableJournal(path, line, "this line is not JSON");
  }
  if (isRecord(entry) && typeof entry["type"] === "string") return entry;
  throw new UnreadableJournal(path, line, "this line is not a journal entry");
}

interface VersionedLine extends Line {
  readonly version: 1 | 2;
}

/** Reads an entry that the others are not needed for. */
function toWholeEntry(text: string, place: VersionedLine): JournalEntry {
  const entry = toEntry(parseEntry(text, place), place);
  const problem = place.version === 1 ? undefined : findEntryProblem(entry);
  if (problem === undefined) return entry;
  throw new UnreadableJournal(place.path, Number.isInteger(entry.n) ? entry.n + 1 : place.line, problem);
}

function toEntry(entry: Record<string, unknown>, { path, line, version }: VersionedLine): JournalEntry {
  const { v } = entry;
  if (v === 3 && version === 2) return { ...entry, v: 2 } as unknown as JournalEntry;
  if (v === version) return (version === 1 ? upgradeEntry(entry) : entry) as unknown as JournalEntry;
  throw new UnreadableJournal(path, line, `this journal has version ${String(v)}; this llm-do reads versions up to 3`);
}

/** Reads version 1: a step's number is its key, and the result of a tool stood in its details. */
function upgradeEntry(entry: Record<string, unknown>): Record<string, unknown> {
  const { type, step, detail } = entry;
  const key = String(step);
  if (type !== "result" || !isRecord(detail)) return type === "intent" ? { ...entry, key } : entry;
  const error = { ok: false, error: detail["error"] ?? null };
  return { ...entry, key, outcome: { type: "value", value: detail["result"] ?? error } };
}
