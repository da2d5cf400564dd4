import type { Fact, JournalEntry } from "../../protocol/fact.ts";
import type { Secret } from "../../util/secrets/redactor.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { JournalError } from "../journal.ts";
import { type RunRecord, readRecord } from "../read-journal.ts";
import { createRecord, type OpenPlace, openRecord, type RecordHost, watchRecord, writePage } from "../record.ts";
import { checkRemoval } from "./cannot-remove.ts";
import type { RecordPlace, RecordReader } from "./record-place.ts";
import { type RunEnds, readIndex, readRunEnds, toIndexLine } from "./run-index.ts";
import type { LeaseOptions, NewRun, OpenRecord, ProgramOfRun, RunFilter, RunStore, RunSummary } from "./store.ts";

/** The runs of one program in a store. */
export interface ProgramRuns {
  /** Its folder, as the run that came first knew it. */
  readonly root: string;
  ids(): Promise<readonly string[]>;
  open(id: string): Promise<RecordPlace>;
  /** Empty if there is none. */
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

/** A store of places, as its kind implements it. */
export interface Places {
  readonly path: string;
  readonly isOwn: boolean;
  /** Creates the place of a run, which is not there. `notes`: sentences for the user. */
  create(run: Pick<NewRun, "id" | "program">): Promise<FoundPlace & { readonly notes: readonly string[] }>;
  /** Rejects with a `CannotResume` if there is no such run, or there are two. */
  find(id: string): Promise<FoundPlace>;
  /** The caller closes them. */
  programs(program: ProgramOfRun | undefined): Promise<readonly ProgramRuns[]>;
  /** Removes all of a record. */
  remove(id: string): Promise<void>;
}

/** A run in a list, read when it is its turn. */
interface ListedRun extends Pick<RunSummary, "id" | "began"> {
  readonly runs: ProgramRuns;
  /** Present if its journal had to be read to find it. */
  readonly read?: RunEnds;
}

interface ReadIndex {
  readonly text: string;
  readonly times: ReadonlyMap<string, number>;
  readonly ids: readonly string[];
}

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
      await found.runs.appendIndex(toIndexLine(run.id, this.#host.clock.now()));
      return { ...(await createRecord(this.#host, toOpenPlace(found), run)), notes };
    } catch (thrown) {
      if (thrown instanceof JournalError) throw thrown;
      throw new JournalError(new Error(`${this.path}: ${errorMessage(thrown)}`, { cause: thrown }), true);
    }
  }

  async open(id: string, options: LeaseOptions): Promise<OpenRecord> {
    const found = await this.#places.find(id);
    return { ...(await openRecord(this.#host, toOpenPlace(found), options)), notes: [] };
  }

  async answer(id: string, options: Omit<LeaseOptions, "takeOver">): Promise<readonly Fact[]> {
    const found = await this.#places.find(id);
    const more = { takeOver: false, isAnswer: true };
    return (await openRecord(this.#host, toOpenPlace(found), { ...options, ...more })).facts;
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
    return this.#use(id, (place) => writePage(place, page));
  }

  async *list({ program, id }: RunFilter = {}): AsyncIterable<RunSummary> {
    const programs = await this.#places.programs(program);
    try {
      const found = await Promise.all(programs.map((runs) => this.#findRuns(runs, id)));
      const newestFirst = found.flat().sort((a, b) => (b.began ?? 0) - (a.began ?? 0) || (a.id < b.id ? 1 : -1));
      for (const run of newestFirst) {
        const { id, runs, began, read = await this.#readEnds(run) } = run;
        yield { id, root: runs.root, began, ...read };
      }
    } finally {
      for (const runs of programs) await runs.close();
    }
  }

  async roots(): Promise<readonly string[]> {
    const programs = await this.#places.programs(undefined);
    for (const runs of programs) await runs.close();
    return [...new Set(programs.map(({ root }) => root))];
  }

  /** Finds the runs of a program by its index. Reads the journals of those that it does not have. */
  async #findRuns(runs: ProgramRuns, only: string | undefined): Promise<readonly ListedRun[]> {
    const [ids, text] = await Promise.all([runs.ids(), runs.readIndex()]);
    const times = readIndex(text);
    await this.#tidyIndex(runs, { text, times, ids });
    const found: ListedRun[] = [];
    for (const id of only === undefined ? ids : ids.filter((one) => one === only)) {
      const began = times.get(id);
      found.push(began === undefined ? await this.#enter(runs, id) : { id, runs, began });
    }
    return found;
  }

  /** Enters a run in the index. */
  async #enter(runs: ProgramRuns, id: string): Promise<ListedRun> {
    const read = await this.#readEnds({ id, runs });
    const time = read.ends?.first?.time;
    // Times of a record that came from elsewhere can be of any year.
    const began = time === undefined ? undefined : Math.min(time, this.#host.clock.now());
    if (began !== undefined) await runs.appendIndex(toIndexLine(id, began));
    return { id, runs, began, read };
  }

  async #readEnds({ id, runs }: Pick<ListedRun, "id" | "runs">): Promise<RunEnds> {
    const place = await runs.open(id);
    return readRunEnds(place).finally(() => place.close());
  }

  /** Leaves out runs that were removed, once they are most of an index. */
  async #tidyIndex(runs: ProgramRuns, { text, times, ids }: ReadIndex): Promise<void> {
    if (text.length < 100_000 || times.size < 2 * ids.length) return;
    const kept = ids.flatMap((id) => (times.has(id) ? toIndexLine(id, times.get(id) ?? 0) : []));
    await runs.replaceIndex(kept.join("")).catch(() => undefined);
  }

  watch(id: string, from: number, signal: AbortSignal): AsyncIterable<JournalEntry> {
    return watchRecord(this, { id, from, signal, clock: this.#host.clock });
  }

  /** Keeps a record as it was written elsewhere. Rejects with `EEXIST` if the id is taken. */
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

  remove(id: string): Promise<void> {
    return this.#use(id, (place) =>
      place.alone(async () => {
        await checkRemoval(this.#host, place);
        await this.#places.remove(id);
      }),
    );
  }
}

/** A place that closes the runs of its program with itself. */
function toOpenPlace({ place, runs }: FoundPlace): OpenPlace {
  const close = async () => {
    await place.close();
    await runs.close();
  };
  return { place, close };
}
