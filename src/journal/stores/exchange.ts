import type { OwnFolder } from "../../host/own-files/own-folder.ts";
import { isRecord, recordsIn } from "../../protocol/json.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { sha256 } from "../../util/sha256.ts";
import { FolderPlace, runIdPattern } from "./folder-store.ts";
import type { PlacedStore } from "./placed-store.ts";
import type { PartName, RecordReader } from "./record-place.ts";
import type { ProgramOfRun } from "./store.ts";

/** A record as it travels: one file of JSON, without its secrets and without what was there before its writes. */
export interface TravellingRun {
  readonly v: 1;
  readonly type: "run";
  readonly id: string;
  readonly program: ProgramOfRun;
  /** The text of its journal. */
  readonly journal: string;
  /** The blobs of the journal, in Base64. */
  readonly parts: readonly { readonly part: PartName; readonly name: string; readonly content: string }[];
}

/** It is no record that can be taken in. */
export class NotARecord extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotARecord";
  }
}

/** Reads a record with all that its journal refers to. Rejects with `NotARecord` if nothing is recorded. */
export async function packRun(record: RecordReader, program: ProgramOfRun): Promise<TravellingRun> {
  const journal = await record.readLog("journal.jsonl");
  if (!journal) throw new NotARecord(`nothing is recorded of ${record.id}`);
  const parts: TravellingRun["parts"][number][] = [];
  for (const [part, name] of namesIn(journal)) {
    const content = await record.readPart(part, name).catch(() => undefined);
    if (content) parts.push({ part, name, content: Buffer.from(content).toString("base64") });
  }
  return { v: 1, type: "run", id: record.id, program, journal, parts };
}

/** Names of long values, and of whole results that were cut. */
function namesIn(journal: string): readonly (readonly [PartName, string])[] {
  const blobs = [...journal.matchAll(/"\$blob":"([0-9a-f]{64})"/g)].map(([, name = ""]) => name);
  const cut = journal.split("\n").flatMap((line) => (line.includes('"type":"cut"') ? [parseJson(line)] : []));
  const results = cut.flatMap((entry) => (isRecord(entry) && typeof entry["id"] === "string" ? [entry["id"]] : []));
  return [
    ...[...new Set(blobs)].map((name): [PartName, string] => ["blobs", name]),
    ...[...new Set(results)].map((name): [PartName, string] => ["results", name]),
  ];
}

/** Reads the file that `llm-do runs export` wrote. Throws a `NotARecord`. */
export function parseTravelling(text: string): TravellingRun {
  const run = parseJson(text);
  const isRun =
    isRecord(run) &&
    run["v"] === 1 &&
    run["type"] === "run" &&
    [run["id"], run["journal"]].every((member) => typeof member === "string") &&
    isRecord(run["program"]) &&
    typeof run["program"]["root"] === "string" &&
    recordsIn(run["parts"]).every((one) =>
      [one["part"], one["name"], one["content"]].every((member) => typeof member === "string"),
    );
  if (!isRun) throw new NotARecord("this is no file that `llm-do runs export` wrote");
  return run as unknown as TravellingRun;
}

/** The records in a folder: of one run, of all runs of a program, or of an older llm-do in `.llm-do/runs`. No link is followed. */
export async function packFolder(folder: OwnFolder): Promise<readonly TravellingRun[]> {
  const name = folder.path.slice(folder.path.lastIndexOf("/") + 1);
  if (await folder.has("journal.jsonl")) return [await packRun(new FolderPlace(name, folder), { root: rootAbove(folder.path) })];
  for (const below of [".llm-do", "runs"]) {
    if (await folder.has(below)) return inside(folder, below, packFolder);
  }
  const found: TravellingRun[] = [];
  for (const { name: id, type } of await folder.entries()) {
    if (type === "directory" && runIdPattern.test(id)) found.push(...(await inside(folder, id, packFolder).catch(skipEmpty)));
  }
  return found;
}

function skipEmpty(thrown: unknown): readonly TravellingRun[] {
  if (thrown instanceof NotARecord) return [];
  throw thrown;
}

async function inside<T>(folder: OwnFolder, name: string, use: (folder: OwnFolder) => Promise<T>): Promise<T> {
  const below = await folder.open(name);
  try {
    return await use(below);
  } finally {
    await below.close();
  }
}

/** The program's folder, where the record lies in its `.llm-do/runs`. */
function rootAbove(path: string): string {
  return path.replace(/(?:\/\.llm-do\/runs)?\/[^/]*$/, "") || "/";
}

/** Keeps a record that came from elsewhere. Names in it are names again. Rejects with `NotARecord`. */
export async function unpackRun(store: PlacedStore, { id, program, journal, parts }: TravellingRun): Promise<void> {
  const [first = ""] = journal.split("\n", 1);
  const start = parseJson(first);
  if (!runIdPattern.test(id) || !isRecord(start) || start["type"] !== "run-start")
    throw new NotARecord(`this is no record of a run: ${JSON.stringify(id)}`);
  if (start["runId"] !== id) throw new NotARecord(`the record \`${id}\` is a copy of the run ${JSON.stringify(start["runId"])}`);
  const contents = parts.map(({ part, name, content }) => ({ part, name, bytes: Buffer.from(content, "base64") }));
  const isAllowed = ({ part, name, bytes }: (typeof contents)[number]) =>
    part === "results" ? /^[\w.-]+$/.test(name) : part === "blobs" && sha256(bytes) === name;
  if (!contents.every(isAllowed)) throw new NotARecord(`a part of the record \`${id}\` is not what its name says`);
  await store.take({ id, program: { root: program.root } }, async (place) => {
    for (const { part, name, bytes } of contents) await place.writePart(part, name, bytes);
    await place.replaceLog("journal.jsonl", journal);
  });
}
