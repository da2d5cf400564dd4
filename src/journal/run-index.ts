import type { JournalEntry } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { clipText } from "../util/clip-text.ts";
import { parseJson } from "../util/parse-json.ts";
import { type JournalEnds, readJournalEnds } from "./read-journal.ts";
import type { RecordReader } from "./record-place.ts";
import type { RunSummary } from "./store.ts";

/** The line of a run in an index; a later one replaces it. Without `ends` the run has not ended. */
export interface IndexedRun extends Pick<RunSummary, "id" | "ends"> {
  readonly began: number;
}

/** Begins with a line break, too: a line that a kill cut off spoils no other. */
export function toIndexLine(run: IndexedRun): string {
  const { id, began, ends } = run;
  return `\n${JSON.stringify({ id, began, ...(ends ? { ends } : {}) })}\n`;
}

/** The first time of each run, and its last line, unread. */
export interface IndexLine {
  readonly began: number;
  readonly line: string;
}

/** Ignores lines that are none. */
export function readIndex(text: string): ReadonlyMap<string, IndexLine> {
  const lines = new Map<string, IndexLine>();
  for (const line of text.split("\n")) {
    const [, id, began] = form.exec(line) ?? [];
    if (id !== undefined) lines.set(id, { began: lines.get(id)?.began ?? Number(began), line });
  }
  return lines;
}

const form = /^\{"id":"([\w-]+)","began":(\d+)[,}]/;

export function parseIndexLine(index: IndexLine | undefined): IndexedRun | undefined {
  const run = index && parseJson(index.line);
  return index && isRecord(run) ? { ...(run as unknown as IndexedRun), began: index.began } : undefined;
}

/** Returns whether an index has all of a run: no entry follows without a new line. */
export function hasEnded({ ends }: Pick<RunSummary, "ends">): boolean {
  return ends?.last?.type === "run-end";
}

/** Describes a run by the ends of its journal. Never rejects. */
export async function summarize(place: RecordReader): Promise<Pick<RunSummary, "began" | "ends" | "problem">> {
  try {
    const ends = await readJournalEnds(place);
    return { began: ends.first?.time, ends: shorten(ends) };
  } catch (thrown) {
    return { began: undefined, problem: thrown instanceof Error ? thrown.message : "" };
  }
}

/** Fields that no list shows, and that grow with the program or with what was said. */
const left = new Set(["files", "fragments", "history", "limits", "compiled", "output", "programDigest", "schema"]);

/** In UTF-16 units: of one text. */
const longestText = 200;

function shorten({ first, entryCall, last, ...ends }: JournalEnds): JournalEnds {
  return {
    ...ends,
    ...(first ? { first: shortenValue(first) as JournalEntry } : {}),
    ...(entryCall ? { entryCall: { ...shortenCall(entryCall) } as JournalEntry } : {}),
    ...(last ? { last: shortenValue(last) as JournalEntry } : {}),
  };
}

/** Of the start of a call, a list shows the model. */
function shortenCall(call: JournalEntry): object {
  const { v, n, time, type } = call;
  return { v, n, time, type, ...("model" in call ? { model: call.model } : {}) };
}

function shortenValue(value: unknown): unknown {
  if (typeof value === "string") return clipText(value, longestText);
  if (Array.isArray(value)) return value.slice(0, 20).map(shortenValue);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([name]) => !left.has(name));
  return Object.fromEntries(members.slice(0, 30).map(([name, member]) => [name, shortenValue(member)]));
}
