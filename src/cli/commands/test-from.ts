import { basename, dirname, join, relative } from "node:path";
import { addToTests, caseOfRun, NoCase } from "../../cases/case-of-run.ts";
import { printRecording } from "../../cases/recording.ts";
import { findTaken, writeNewFiles } from "../../host/files/new-files.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { expandTexts } from "../../journal/expand-texts.ts";
import { readJournal } from "../../journal/read-journal.ts";
import { readSecrets } from "../../journal/secret-keeper.ts";
import type { RecordReader } from "../../journal/stores/record-place.ts";
import { type LoggedWrite, readWriteLog } from "../../journal/write-log.ts";
import { type CallPath, isAtOrBelow } from "../../protocol/call.ts";
import type { FactOf, JournalEntry } from "../../protocol/fact.ts";
import type { Outline } from "../../protocol/outline.ts";
import { showText } from "../../ui/text/show-text.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { isWithin } from "../../util/within.ts";
import { commandLine } from "../command-name.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { writeResult, writeStderr } from "../output.ts";
import { findRun } from "../records/find-runs.ts";
import { requireWorker } from "../records/find-step.ts";

/**
 * `llm-do test [TARGET] --from RUN[/CALL]`: adds a case to the tests beside a worker, with what a recorded call of it was asked, and what was
 * answered. It expects what the call did.
 */
export async function testFromCommand(from: string, target: string, name: string | undefined): Promise<number> {
  const [run = "", ...path] = from.split("/");
  const found = await findRun({ run, target: target === "." ? undefined : target, changes: true });
  if (found.isForeign) throw new UsageError(`the record of ${found.runId} came from elsewhere: nothing in it becomes a test`);
  const chosen = { named: name ?? `as in ${[found.runId, ...path].join("/")}`, call: path.join("/"), root: found.root };
  const { file, shown, title } = await found.store
    .look(found.runId, (record) => addCaseOf(record, chosen))
    .catch((thrown) => {
      throw thrown instanceof NoCase ? new UsageError(thrown.message) : thrown;
    });
  await writeResult(shown);
  writeStderr(`llm-do: a case is added to ${showText(file)}; \`${commandLine("test", file, "--filter", title)}\` plays it\n`);
  return exitCodes.done;
}

interface Chosen {
  readonly named: string;
  /** Empty for the entry. */
  readonly call: CallPath;
  readonly root: string;
}

async function addCaseOf(record: RecordReader, { named, call, root }: Chosen) {
  const facts = await readFacts(record);
  const start = facts.find((fact) => fact.type === "call-start" && (call === "" || fact.callPath === call));
  if (start?.type !== "call-start" || start.kind !== "worker")
    throw new NoCase(`no call of a worker is recorded at ${call || "its entry"}`);
  const { outline, worker } = await requireWorker(start.name, root);
  const folder = join(outline.root, dirname(worker.file));
  const beside = `recordings/${named.replace(/[^\w.-]+/g, "-").slice(0, 80)}`;
  const inputs = await filesOfInput(record, start, `${beside}.files`);
  const { written, befores } = await findWritten(record, { outline, call: start.callPath, beside: `${beside}.before` });
  const { keys, recording } = caseOfRun({
    ...{ facts, root: outline.root, callPath: start.callPath, written, attachments: [...inputs.keys()] },
    fileTools: fileToolsOf(outline),
  });
  const path = `${beside}.jsonl`;
  const made = new Map<string, string | Uint8Array>([...inputs, ...befores, [path, printRecording(recording)]]);
  const [taken] = await findTaken(folder, made.keys());
  if (taken !== undefined) throw new UsageError(`${taken}: there is such a file; --name gives the case another name`);
  const { files } = createNodeHost();
  const test = `${basename(worker.file, ".worker")}.test.yaml`;
  const file = join(folder, test);
  const text = (await files.kind(file)) === "file" ? await files.readText(file) : undefined;
  const one = { name: named, recording: path, ...keys };
  const added = addToTests(text, test, one);
  await writeNewFiles(folder, made, () => files.writeAtomically(file, added.text));
  return { file: relative(process.cwd(), file), title: named, shown: escapeText(added.item, { keepNewlines: true }) };
}

/** In bytes: of one text, and of all texts that are kept beside a journal. */
const bounds = { longest: 20_000_000, total: 200_000_000 };

/** Secrets stay tokens. */
async function readFacts(record: RecordReader): Promise<readonly JournalEntry[]> {
  const { version, entries } = await readJournal(record);
  if (version === 1) throw new NoCase("the run is of an older llm-do");
  const missing = (digest: string): never => {
    throw new NoCase(`a text of the run is gone (blob ${digest})`);
  };
  return expandTexts(record, { ...bounds, entries, onMissing: missing });
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
