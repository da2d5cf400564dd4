import type { AppendFile, Host } from "../host/host.ts";
import type { Fact, JournalEntry } from "../protocol/fact.ts";
import type { Artifact } from "../protocol/message.ts";
import { escapeText } from "../util/text/escape-text.ts";
import { FactEncoder } from "./encode.ts";
import { createJournal, JournalError, type JournalWriter } from "./journal.ts";
import { leaseLine, leaseOf, type RunRecord, readJournal, readRecord, readUnchecked } from "./read-journal.ts";
import { createSecretKeeper, type SecretKeeper } from "./secret-keeper.ts";
import { checkOwner, hold } from "./stores/owner.ts";
import { CannotResume, cutTail, type RecordPlace, type RecordReader } from "./stores/record-place.ts";
import type { LeaseOptions, NewRun, OpenRecord, ResultKeeper, RunStore } from "./stores/store.ts";
import { createWriteLog } from "./write-log.ts";

/** A place that is open, and its closing. */
export interface OpenPlace {
  readonly place: RecordPlace;
  readonly close: () => Promise<void>;
}

/** The part of a host that records use. */
export type RecordHost = Pick<Host, "clock" | "processes" | "createKey">;

/** Begins a record. Takes over the place, also where it rejects. */
export async function createRecord(host: RecordHost, open: OpenPlace, run: NewRun): Promise<Omit<OpenRecord, "notes">> {
  try {
    return await openToWrite(host, open, { ...run, facts: [], times: [], isWhole: true, epoch: 1, kept: undefined });
  } catch (cause) {
    await open.close();
    throw cause;
  }
}

/**
 * Opens a record to add to it: cuts a torn tail off, takes the lease, and records the first facts. Takes over the place, also where it
 * rejects. `isAnswer`: the lease stays where it is, and the record is closed again.
 */
export async function openRecord(
  host: RecordHost,
  open: OpenPlace,
  { isAnswer = false, ...options }: LeaseOptions & { readonly isAnswer?: boolean },
): Promise<Omit<OpenRecord, "notes">> {
  const { place } = open;
  // Closed in the end: the lock lies in the place.
  let isTaken = false;
  const close = async () => (isTaken ? open.close() : undefined);
  try {
    const opened = await place.alone(async () => {
      const read = () => (options.isUndo ? readUnchecked : readRecord)(place, options.known, host.createKey);
      let record = await read();
      if (record.facts.length === 0) throw new CannotResume(`nothing is recorded of ${place.id}: there is nothing to go on with`);
      checkId(place, record.facts);
      checkOwner(host, place, record.facts, options.takeOver);
      options.begin(record.facts, options.createRedactor(record.secrets));
      await cutTail(place, "journal.jsonl").catch(failAsJournal);
      const epoch = record.epoch + (isAnswer ? 0 : 1);
      // Before the facts are read that count: what a stopped process appends later does not.
      if (!isAnswer) await appendLine(place, leaseLine(epoch, host.clock.now())).catch(failAsJournal);
      record = await read();
      return begin(host, { place, close }, { record: { ...record, epoch }, options });
    });
    if (isAnswer) {
      const failed = await opened.journal.close();
      await open.close();
      if (failed) throw failed;
    }
    isTaken = true;
    return opened;
  } catch (thrown) {
    await open.close();
    throw thrown;
  }
}

/** A copied folder is no run of its own: the one that it is a copy of may go on elsewhere. */
function checkId({ id }: RecordPlace, [start]: readonly Fact[]): void {
  if (start?.type === "run-start" && start.runId !== id)
    throw new CannotResume(`the record \`${id}\` is a copy of the run \`${escapeText(start.runId)}\`: go on with that one`);
}

async function begin(
  host: RecordHost,
  open: OpenPlace,
  { record, options }: { readonly record: RunRecord; readonly options: LeaseOptions },
): Promise<Omit<OpenRecord, "notes">> {
  const redactor = options.createRedactor(record.secrets);
  const added = options.begin(record.facts, redactor);
  return beginLease(await openToWrite(host, open, { ...record, redactor }), added, () => host.clock.now());
}

/** Records the first facts of a lease. Closes the record if they cannot be written. */
export async function beginLease(
  opened: Omit<OpenRecord, "notes">,
  added: readonly Fact[],
  now: () => number,
): Promise<Omit<OpenRecord, "notes">> {
  for (const fact of added) opened.journal.append(fact);
  try {
    await opened.journal.written({ durable: true });
  } catch (thrown) {
    await opened.journal.close();
    throw thrown;
  }
  return { ...opened, facts: [...opened.facts, ...added], times: [...opened.times, ...added.map(now)] };
}

async function appendLine(place: RecordPlace, line: string): Promise<void> {
  const file = await place.openLog("journal.jsonl");
  try {
    file.append(line);
  } finally {
    await file.close();
  }
}

function failAsJournal(cause: unknown): never {
  throw new JournalError(cause);
}

type Recorded = Pick<RunRecord, "facts" | "times" | "isWhole" | "epoch" | "kept"> & Pick<NewRun, "redactor" | "secrets">;

async function openToWrite(host: RecordHost, open: OpenPlace, recorded: Recorded): Promise<Omit<OpenRecord, "notes">> {
  const { place } = open;
  const { facts, times, isWhole, epoch, kept, redactor, secrets } = recorded;
  const keeper = createSecretKeeper(place, secrets, kept);
  const encoder = new FactEncoder({ clock: host.clock, redactor, secrets, entries: facts.length, epoch });
  const release = hold(host, place);
  const file = await place.openLog("journal.jsonl").catch((cause: unknown) => {
    release();
    throw new JournalError(cause, facts.length === 0);
  });
  const lost = new AbortController();
  const writer = new RecordWriter({ ...open, file, keeper, epoch, lose: (error) => lost.abort(error), release });
  const journal = createJournal(encoder, writer, facts.length);
  return { facts, times, isWhole, journal, redactor, ...createKeepers(place, keeper), lost: lost.signal };
}

/** Creates what keeps the contents of a run beside its journal. */
export function createKeepers(
  place: RecordPlace,
  keeper: SecretKeeper,
): Pick<OpenRecord, "writes" | "results" | "keepArtifacts"> {
  return {
    writes: createWriteLog(place, keeper),
    results: createResultKeeper(place),
    keepArtifacts: (artifacts) => keepArtifacts(place, artifacts),
  };
}

interface RecordWriterOptions extends OpenPlace {
  readonly file: AppendFile;
  readonly keeper: SecretKeeper;
  readonly epoch: number;
  readonly lose: (error: JournalError) => void;
  readonly release: () => void;
}

/** Writes the lines of one lease, for as long as it is the last one. */
class RecordWriter implements JournalWriter {
  readonly prepare: JournalWriter["prepare"];
  readonly #options: RecordWriterOptions;
  /** Bytes of the journal, all known to this writer. Another size: another process appended. */
  #size: number;

  constructor(options: RecordWriterOptions) {
    this.#options = options;
    this.#size = options.file.size() ?? 0;
    this.prepare = prepareIn(options.place, options.keeper);
  }

  append(lines: string): Promise<void> | undefined {
    if (this.#options.file.size() !== this.#size) return this.#checkLease().then(() => this.#append(lines));
    this.#append(lines);
    return undefined;
  }

  #append(lines: string): void {
    this.#options.file.append(lines);
    this.#size += Buffer.byteLength(lines);
  }

  /** Looks for another lease last: an effect that waits for this has its intent before that lease, or does not begin. */
  async sync(): Promise<void> {
    await this.#options.keeper.sync();
    await this.#options.file.sync();
    if (this.#options.file.size() !== this.#size) await this.#checkLease();
  }

  async close({ durable }: { readonly durable: boolean }): Promise<void> {
    const { keeper, file, close, release } = this.#options;
    release();
    try {
      await keeper.close();
      if (durable) await file.sync();
    } finally {
      await file.close();
      await close();
    }
  }

  /** Accepts what a process with an earlier lease appended meanwhile. Throws if there is a later one, or the journal is gone. */
  async #checkLease(): Promise<void> {
    const { place, file, epoch, lose } = this.#options;
    const text = file.size() === undefined ? undefined : await place.readLog("journal.jsonl");
    const others = Buffer.from(text ?? "")
      .subarray(this.#size)
      .toString("utf8")
      .split("\n");
    if (text !== undefined && others.every((line) => (leaseOf(line) ?? 0) <= epoch)) {
      this.#size = Buffer.byteLength(text);
      return;
    }
    const why = text === undefined ? "its record is gone" : "another process goes on with it";
    const error = new JournalError(new Error(`this run lost its lease: ${why}`));
    lose(error);
    throw error.cause;
  }
}

/** Keeps the secrets and blobs of entries before these are appended: each blob once. */
export function prepareIn(place: RecordPlace, keeper: SecretKeeper): JournalWriter["prepare"] {
  const kept = new Set<string>();
  return async ({ blobs, secrets, privateBlobs }) => {
    if (secrets.length + privateBlobs.length > 0) await keeper.keep(secrets, privateBlobs);
    for (const { digest, content } of blobs) {
      if (kept.has(digest)) continue;
      await place.writePart("blobs", digest, content);
      kept.add(digest);
    }
  };
}

/** Keeps a page about a run with its record, and returns its path. */
export async function writePage(place: RecordPlace, page: string): Promise<string> {
  await place.writePart("pages", "view.html", page);
  return `${place.path}/pages/view.html`;
}

/** How often a journal is read that is watched, in milliseconds. */
const watchMilliseconds = 200;

interface Watch {
  readonly id: string;
  readonly from: number;
  readonly signal: AbortSignal;
  readonly clock: Host["clock"];
}

/** Yields the entries of a record as they are recorded, from number `from` on, until the signal aborts. */
export async function* watchRecord(
  store: Pick<RunStore, "look">,
  { id, from, signal, clock }: Watch,
): AsyncIterable<JournalEntry> {
  for (let next = from; !signal.aborted; ) {
    const { unchecked } = await store.look(id, readJournal);
    yield* unchecked.slice(next);
    next = Math.max(next, unchecked.length);
    await clock.sleep(watchMilliseconds, signal).catch(() => undefined);
  }
}

function createResultKeeper(place: RecordPlace): ResultKeeper {
  return {
    keep: (name, text) => place.writePart("results", name, text),
    read: async (name) => {
      const content = await place.readPart("results", name).catch(() => undefined);
      return content && Buffer.from(content).toString("utf8");
    },
  };
}

/** Returns the paths of the files of a record, which were kept when its run ended. */
export async function placeArtifacts(record: RecordReader, artifacts: readonly Artifact[]): Promise<readonly Artifact[]> {
  const place = async (artifact: Artifact): Promise<Artifact> => {
    const isKept = await record.readStart("artifacts", artifact.name, 0).then(
      () => true,
      () => false,
    );
    return isKept ? { ...artifact, path: pathOf(record, artifact) } : artifact;
  };
  return Promise.all(artifacts.map(place));
}

function pathOf({ path }: RecordReader, { name }: Artifact): string {
  return `${path}/artifacts/${name}`;
}

/** Keeps files, and returns their paths. A file that cannot be written has no path. */
async function keepArtifacts(place: RecordPlace, artifacts: readonly Artifact[]): Promise<Artifact[]> {
  const kept: Artifact[] = [];
  for (const artifact of artifacts) {
    try {
      await place.writePart("artifacts", artifact.name, Buffer.from(artifact.data, "base64"));
      kept.push({ ...artifact, path: pathOf(place, artifact) });
    } catch {
      kept.push(artifact);
    }
  }
  return kept;
}
