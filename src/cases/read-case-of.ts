import { basename, dirname, join, relative } from "node:path";
import { expandWhole, TextGone } from "../journal/expand-texts.ts";
import { readJournal } from "../journal/read-journal.ts";
import { readSecrets } from "../journal/secret-keeper.ts";
import type { RecordReader } from "../journal/stores/record-place.ts";
import { type LoggedWrite, readWriteLog } from "../journal/write-log.ts";
import { type CallPath, isAtOrBelow } from "../protocol/call.ts";
import type { FactOf, JournalEntry } from "../protocol/fact.ts";
import type { Outline, OutlinedWorker } from "../protocol/outline.ts";
import { isWithin } from "../util/within.ts";
import { type CaseOfRun, caseOfRun, NoCase } from "./case-of-run.ts";
import { printRecording } from "./recording.ts";

/** A call of a record that becomes a case. */
export interface ChosenCall {
  /** The name of the case. */
  readonly named: string;
  /** Empty for the entry. */
  readonly call: CallPath;
  /** Finds a worker of the program of today by its name. */
  readonly findWorker: (name: string) => Promise<{ readonly outline: Outline; readonly worker: OutlinedWorker }>;
}

/** A case with the files beside its test. */
export interface RecordedCaseFiles {
  /** Absolute path of the folder of the worker. */
  readonly folder: string;
  /** The name of the test file in it. */
  readonly test: string;
  /** As it stands in the test file. */
  readonly keys: CaseOfRun["keys"];
  /** Its recording, the files of its input, and what was there before it wrote, by their paths in the folder. */
  readonly made: ReadonlyMap<string, string | Uint8Array>;
}

/** Reads a recorded call as a case. Rejects with a `NoCase` that says why a test cannot play it, and as `findWorker` does. */
export async function readCaseOf(record: RecordReader, { named, call, findWorker }: ChosenCall): Promise<RecordedCaseFiles> {
  const facts = await readFacts(record);
  const start = facts.find((fact) => fact.type === "call-start" && (call === "" || fact.callPath === call));
  if (start?.type !== "call-start" || start.kind !== "worker")
    throw new NoCase(`no call of a worker is recorded at ${call || "its entry"}`);
  const { outline, worker } = await findWorker(start.name);
  const beside = `recordings/${named.replace(/[^\w.-]+/g, "-").slice(0, 80)}`;
  const inputs = await filesOfInput(record, start, `${beside}.files`);
  const { written, befores } = await findWritten(record, { outline, call: start.callPath, beside: `${beside}.before` });
  const { keys, recording } = caseOfRun({
    ...{ facts, root: outline.root, callPath: start.callPath, written, attachments: [...inputs.keys()] },
    fileTools: fileToolsOf(outline),
  });
  const path = `${beside}.jsonl`;
  return {
    folder: join(outline.root, dirname(worker.file)),
    test: `${basename(worker.file, ".worker")}.test.yaml`,
    keys: { name: named, recording: path, ...keys },
    made: new Map<string, string | Uint8Array>([...inputs, ...befores, [path, printRecording(recording)]]),
  };
}

/** Secrets stay tokens. */
async function readFacts(record: RecordReader): Promise<readonly JournalEntry[]> {
  const { version, entries } = await readJournal(record);
  if (version === 1) throw new NoCase("the run is of an older llm-do");
  return expandWhole(record, entries).catch((thrown) => {
    throw thrown instanceof TextGone ? new NoCase(thrown.message) : thrown;
  });
}

/** Contents of the files of an input, by their paths beside the test. */
async function filesOfInput(record: RecordReader, { input }: FactOf<"call-start">, folder: string) {
  const found = new Map<string, Uint8Array>();
  for (const { name, sha256 } of input.files) found.set(`${folder}/${basename(name)}`, await record.readPart("blobs", sha256));
  if (found.size < input.files.length) throw new NoCase("two files of its input have one name");
  return found;
}

interface WritingCall {
  readonly outline: Outline;
  readonly call: CallPath;
  /** The folder beside the test for what was there before. */
  readonly beside: string;
}

/** Finds the files that a call wrote in the program's folder, and the contents that were there before. */
async function findWritten(record: RecordReader, { outline, call, beside }: WritingCall) {
  const kept = await readSecrets(record);
  const written = new Map<string, { readonly before?: string }>();
  const befores = new Map<string, Uint8Array>();
  for (const write of await readWriteLog(record)) {
    const path = pathIn(outline.root, write);
    if (path === undefined || written.has(path) || !isAtOrBelow(write.callPath, call)) continue;
    if (write.before === undefined) throw new NoCase(`what ${path} held before is not kept`);
    const before = write.before === null ? undefined : `${beside}/${path}`;
    written.set(path, before === undefined ? {} : { before });
    if (before !== undefined && write.before !== null && kept) befores.set(before, await kept.readBlob(write.before));
  }
  return { written, befores };
}

function pathIn(root: string, write: LoggedWrite): string | undefined {
  const path = join(write.root, ...write.components);
  return isWithin(path, root) ? relative(root, path) : undefined;
}

/** Names of tools that run in a test, with a recording, too. */
function fileToolsOf({ workers }: Outline): ReadonlySet<string> {
  const own = workers.flatMap(({ toolsets }) =>
    toolsets.filter(({ kind, reference }) => kind === "built-in" && reference === "filesystem"),
  );
  return new Set(own.flatMap(({ tools }) => tools.map(({ name }) => name)));
}
