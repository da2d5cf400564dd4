import { basename, dirname } from "node:path";
import type { Host } from "../host/host.ts";
import type { Fact, JournalEntry } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { errorMessage } from "../util/error-message.ts";
import type { Secret } from "../util/redactor.ts";
import { sha256 } from "../util/sha256.ts";
import { internalize, type References } from "./blobs.ts";
import { factFields, findEntryProblem } from "./fact-fields.ts";
import { markStops } from "./mark-stops.ts";
import { type PrivateContents, readPrivateFolder } from "./private-folder.ts";
import { withoutReferences } from "./references.ts";
import { RunSecrets } from "./run-secrets.ts";
import { UnreadableJournal } from "./unreadable-journal.ts";

/** In bytes. Long values are kept beside it. */
const mostOfJournal = 200_000_000;

export interface JournalContents {
  /** Journals of version 1 can be shown, and not replayed. Their entries are brought into the form of today, as far as it goes. */
  readonly version: 1 | 2;
  readonly entries: readonly JournalEntry[];
  /** All, damaged ones included, each at its number. Its fields can be of any type. */
  readonly unchecked: readonly JournalEntry[];
  /** Problems of damaged entries, by their numbers. Such an entry is not among `entries`. Not looked for in version 1. */
  readonly problems: ReadonlyMap<number, string>;
  /** True where the last line was cut off, as by a crash; it is left out. */
  readonly torn: boolean;
}

/**
 * Reads a run's journal as it was written: secrets are tokens, long values references to blobs. References to earlier entries are
 * replaced by what they stand for. A torn last line is expected; a
 * line that is no entry rejects with an `UnreadableJournal`; an entry whose fields are damaged is left out, and its problem listed.
 */
export async function readJournal(host: Host, directory: string): Promise<JournalContents> {
  const path = `${directory}/journal.jsonl`;
  const text = await host.files.readText(path, { maxBytes: mostOfJournal, within: dirname(directory) });
  const lines = text.split("\n");
  const rest = lines.pop() ?? "";
  const parsed = lines.map((line, index) => parseEntry(line, { path, line: index + 1 }));
  const version = versionOf(parsed[0]);
  const entries: JournalEntry[] = [];
  const problems = new Map<number, string>();
  for (const [index, one] of parsed.entries()) {
    if (one["n"] !== index) throw new UnreadableJournal(path, index + 1, `entry ${index} is missing`);
    const written = toEntry(one, { path, line: index + 1, version });
    const { entry, problem } = one["v"] === 3 ? withoutReferences(written, entries) : { entry: written };
    entries.push(entry);
    const found = version === 1 ? undefined : (findEntryProblem(entry) ?? problem);
    if (found !== undefined) problems.set(index, found);
  }
  const whole = entries.filter(({ n }) => !problems.has(n));
  return { version, entries: whole, unchecked: entries, problems, torn: rest !== "" };
}

/** The first and the last entry of a run. Both are absent where nothing is recorded. */
export interface JournalEnds {
  readonly version: 1 | 2;
  readonly first?: JournalEntry;
  /** The start of the entry's own call. Absent where it is not near the beginning. */
  readonly entryCall?: JournalEntry;
  readonly last?: JournalEntry;
  /** True where the run was taken back after `last`. */
  readonly undone?: boolean;
}

const undoLine = /^\{"v":2,"n":\d+,"time":\d+,"type":"undo"/;

/** In bytes. Few lines are longer. */
const firstLook = 65_536;

/**
 * Reads the first and the last entry, and not what lies between them. A run that was killed as it began has none. Rejects with an `UnreadableJournal` as `readJournal` does, and where
 * one of these entries is damaged.
 */
export async function readJournalEnds(host: Host, directory: string): Promise<JournalEnds> {
  const path = `${directory}/journal.jsonl`;
  if ((await host.files.kind(path)) === undefined) return { version: 2 };
  for (let bytes = firstLook; ; bytes *= 16) {
    const ends = await host.files.readEnds(path, { bytes, within: dirname(directory) });
    const [start, end] = [ends.start, ends.end].map((one) => Buffer.from(one).toString("utf8").split("\n")) as [
      string[],
      string[],
    ];
    const isWhole = ends.bytes <= bytes;
    // Text after the last line break is a line that was cut off; text before the first one may be half a line.
    const ended = end.slice(isWhole ? 0 : 1, -1);
    const [first, last] = [start.length > 1 ? start[0] : undefined, ended.findLast((line) => !undoLine.test(line))];
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
  /** The values that the run's private folder keeps; undefined where it has none. */
  readonly kept: PrivateContents | undefined;
  /** True where the last line was cut off. */
  readonly torn: boolean;
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
  const { version, entries, problems, torn } = await readJournal(host, directory);
  if (version === 1)
    throw new UnreadableJournal(path, 1, "this journal has version 1: it can be shown, and not resumed or replayed");
  for (const [index, problem] of problems) throw new UnreadableJournal(path, index + 1, problem);
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
    secrets: kept?.secrets ?? new RunSecrets(() => host.createKey()),
    isWhole,
  };
}

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
