import type { Fact, JournalEntry } from "../protocol/fact.ts";
import type { Secret } from "../util/redactor.ts";
import { checkRemoval } from "./cannot-remove.ts";
import { JournalError } from "./journal.ts";
import { type RunRecord, readJournal, readRecord } from "./read-journal.ts";
import { createRecord, type OpenPlace, openRecord, type RecordHost } from "./record.ts";
import type { RecordPlace, RecordReader } from "./record-place.ts";
import { hasEnded, type IndexedRun, parseIndexLine, readIndex, summarize, toIndexLine } from "./run-index.ts";
import type { LeaseOptions, NewRun, OpenRecord, ProgramOfRun, RunFilter, RunStore, RunSummary } from "./store.ts";

/** The runs of one program in a store. */
export interface ProgramRuns {
  /** Its folder, as the run that came first knew it. */
  readonly root: string;
  ids(): Promise<readonly string[]>;
  open(id: string): Promise<RecordPlace>;
  /** Empty where there is none. */
  readIndex(): Promise<string>;
  /** Best effort: a run does not fail because it cannot be listed. Never rejects. */
  appendIndex(line: string): Promise<void>;
  replaceIndex(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface FoundPlace {
  readonly place: RecordPlace;
  readonly runs: ProgramRuns;
}

/** What a store of places has to do. */
export interface Places {
  readonly path: string;
  readonly isOwn: boolean;
  /** Creates the place of a run, which is not there. `notes`: sentences for the user. */
  create(run: Pick<NewRun, "id" | "program">): Promise<FoundPlace & { readonly notes: readonly string[] }>;
  /** Rejects with a `CannotResume` where there is no such run, or there are two. */
  find(id: string): Promise<FoundPlace>;
  /** The caller closes them. */
  programs(program: ProgramOfRun | undefined): Promise<readonly ProgramRuns[]>;
  /** Removes all of a record. */
  remove(id: string): Promise<void>;
}

/** How often `watch` looks, in milliseconds. */
const watchMilliseconds = 200;

/** A store that keeps each record in a place of its own, and an index of the runs of each program. */
export class PlacedStore implements RunStore {
  readonly path: string;
  readonly isOwn: boolean;
  readonly #host: RecordHost;
  readonly #places: Places;

  constructor(host: RecordHost, places: Places) {
    this.#host = host;
    this.#places = places;
    this.path = places.path;
    this.isOwn = places.isOwn;
  }

  async create(run: NewRun): Promise<OpenRecord> {
    try {
      const { notes, ...found } = await this.#places.create(run);
      await found.runs.appendIndex(toIndexLine({ id: run.id, began: this.#host.clock.now() }));
      return { ...(await createRecord(this.#host, this.#indexed(found), run)), notes };
    } catch (thrown) {
      throw thrown instanceof JournalError ? thrown : new JournalError(thrown, true);
    }
  }

  async open(id: string, options: LeaseOptions): Promise<OpenRecord> {
    const found = await this.#places.find(id);
    return { ...(await openRecord(this.#host, this.#indexed(found), options)), notes: [] };
  }

  async answer(id: string, options: Omit<LeaseOptions, "takeOver">): Promise<readonly Fact[]> {
    const found = await this.#places.find(id);
    const more = { takeOver: false, isAnswer: true };
    return (await openRecord(this.#host, this.#indexed(found), { ...options, ...more })).facts;
  }

  /** A place whose run is entered in the index when it is closed. */
  #indexed({ place, runs }: FoundPlace): OpenPlace {
    const close = async () => {
      const { began, ends } = await summarize(place);
      if (began !== undefined && ends) await runs.appendIndex(toIndexLine({ id: place.id, began, ends }));
      await place.close();
      await runs.close();
    };
    return { place, close };
  }

  async read(id: string, known: readonly Secret[] = []): Promise<RunRecord> {
    return this.look(id, (record) => readRecord(record, known));
  }

  look<T>(id: string, use: (record: RecordReader) => Promise<T>): Promise<T> {
    return this.#use(id, use);
  }

  async #use<T>(id: string, use: (place: RecordPlace) => Promise<T>): Promise<T> {
    const { place, runs } = await this.#places.find(id);
    try {
      return await use(place);
    } finally {
      await place.close();
      await runs.close();
    }
  }

  async keepPage(id: string, page: string): Promise<string> {
    return this.#use(id, async (place) => {
      await place.writePart("pages", "view.html", page);
      return `${place.path}/pages/view.html`;
    });
  }

  async *list({ program, id }: RunFilter = {}): AsyncIterable<RunSummary> {
    const programs = await this.#places.programs(program);
    const listed = await Promise.all(
      programs.map((runs) => (id === undefined ? this.#listProgram(runs) : this.#listOne(runs, id))),
    );
    yield* listed.flat().sort((a, b) => (b.began ?? 0) - (a.began ?? 0) || (a.id < b.id ? 1 : -1));
  }

  async #listProgram(runs: ProgramRuns): Promise<readonly RunSummary[]> {
    try {
      const [ids, text] = await Promise.all([runs.ids(), runs.readIndex()]);
      const lines = readIndex(text);
      const listed: RunSummary[] = [];
      for (const id of ids) {
        const known = parseIndexLine(lines.get(id));
        listed.push(known && hasEnded(known) ? { ...known, root: runs.root } : await this.#summarize(runs, id, known));
      }
      await this.#tidyIndex(runs, { text, listed });
      return listed;
    } finally {
      await runs.close();
    }
  }

  async #listOne(runs: ProgramRuns, id: string): Promise<readonly RunSummary[]> {
    try {
      return (await runs.ids()).includes(id) ? [await this.#summarize(runs, id, undefined)] : [];
    } finally {
      await runs.close();
    }
  }

  /** Leaves out what was removed and replaced, once that is most of an index. */
  async #tidyIndex(runs: ProgramRuns, { text, listed }: { readonly text: string; readonly listed: readonly RunSummary[] }) {
    const isWorthIt = text.length > 100_000 && text.split("\n").length > 10 * listed.length;
    const lines = listed.flatMap(({ id, began, ends }) =>
      began === undefined ? [] : toIndexLine({ id, began, ...(ends ? { ends } : {}) }),
    );
    if (isWorthIt) await runs.replaceIndex(lines.join("")).catch(() => undefined);
  }

  async #summarize(runs: ProgramRuns, id: string, known: IndexedRun | undefined): Promise<RunSummary> {
    const place = await runs.open(id);
    const found = await summarize(place).finally(() => place.close());
    // Times of a record that came from elsewhere can be of any year.
    const began = known?.began ?? (found.began === undefined ? undefined : Math.min(found.began, this.#host.clock.now()));
    const summary = { id, root: runs.root, ...found, began };
    if (began !== undefined && found.ends && hasEnded(found))
      await runs.appendIndex(toIndexLine({ id, began, ends: found.ends }));
    return summary;
  }

  async *watch(id: string, from: number, signal: AbortSignal): AsyncIterable<JournalEntry> {
    for (let next = from; !signal.aborted; ) {
      const { unchecked } = await this.look(id, readJournal);
      yield* unchecked.slice(next);
      next = Math.max(next, unchecked.length);
      await this.#host.clock.sleep(watchMilliseconds, signal).catch(() => undefined);
    }
  }

  /** Keeps a record as it was written elsewhere. Rejects with `EEXIST` where the id is taken. */
  async take(run: Pick<NewRun, "id" | "program">, fill: (place: RecordPlace) => Promise<void>): Promise<void> {
    const { place, runs } = await this.#places.create(run);
    try {
      await fill(place);
    } catch (thrown) {
      await this.#places.remove(run.id);
      throw thrown;
    } finally {
      await place.close();
      await runs.close();
    }
  }

  /** Removes a record, whatever its run waits for. */
  discard(id: string): Promise<void> {
    return this.#places.remove(id);
  }

  async remove(id: string): Promise<void> {
    const { place, runs } = await this.#places.find(id);
    try {
      await place.alone(async () => {
        await checkRemoval(this.#host, place);
        await this.#places.remove(id);
      });
    } finally {
      await place.close();
      await runs.close();
    }
  }
}
