import type { Fact, JournalEntry } from "../../protocol/fact.ts";
import type { Artifact } from "../../protocol/message.ts";
import type { Redactor, Secret } from "../../util/secrets/redactor.ts";
import type { Journal } from "../journal.ts";
import type { JournalEnds, RunRecord } from "../read-journal.ts";
import type { RunSecrets } from "../run-secrets.ts";
import type { WriteLog } from "../write-log.ts";
import type { RecordReader } from "./record-place.ts";

/**
 * Where the records of runs are. In one store an id is one run. A record is believed because it lies in a store that the user owns or names.
 * A store that is not made of files implements it with `FactEncoder` and `readRecord`.
 */
export interface RunStore {
  /** Names the store to a person. */
  readonly path: string;
  /** True for the user's own, in the state folder. */
  readonly isOwn: boolean;
  /** Begins a record. Rejects with a `JournalError` if it cannot be written, or the id is taken. */
  create(run: NewRun): Promise<OpenRecord>;
  /**
   * Takes the lease of a run: what another process appends under an earlier lease does not count, and it ends before its next effect. The
   * last owner that the journal names has to be dead, so that one process alone executes a run. Rejects with a `CannotResume`, an
   * `UnreadableJournal` or a `JournalError`.
   */
  open(id: string, options: LeaseOptions): Promise<OpenRecord>;
  /** Adds facts to a run that no process executes, without its lease. Resolves with all of its facts. Rejects as `open` does. */
  answer(id: string, options: Omit<LeaseOptions, "takeOver">): Promise<readonly Fact[]>;
  /** The facts of a run, without its lease. `known`: today's values of secrets known by name. */
  read(id: string, known?: readonly Secret[]): Promise<RunRecord>;
  /** Looks at a record as it was written. Rejects with a `CannotResume` if the store has no such run, or has it twice. */
  look<T>(id: string, use: (record: RecordReader) => Promise<T>): Promise<T>;
  /**
   * Newest first, by the time at which this store began them. A run is read when it is its turn: a caller that stops early reads no
   * more of them.
   */
  list(filter?: RunFilter): AsyncIterable<RunSummary>;
  /** The folders of all programs that have runs here. */
  roots(): Promise<readonly string[]>;
  /** Yields entries as they are recorded, from number `from` on, until the signal aborts. */
  watch(id: string, from: number, signal: AbortSignal): AsyncIterable<JournalEntry>;
  /** Keeps a page about a run with its record, in the place of an earlier one. Resolves with its path. */
  keepPage(id: string, page: string): Promise<string>;
  /** Removes a record with its secrets. Rejects with a `CannotRemove` for a run that is under way, that may be so, or that waits for answers. */
  remove(id: string): Promise<void>;
  /** Removes contents that runs shared, and none has any more. Default: each run has its own. */
  sweep?(): Promise<void>;
}

/** The program that a run is of. */
export interface ProgramOfRun {
  /** Its folder: real path. */
  readonly root: string;
  /** As its manifest has it. Named stores go by it. */
  readonly name?: string;
}

export interface NewRun {
  readonly id: string;
  readonly program: ProgramOfRun;
  readonly redactor: Redactor;
  /** The ids of its secrets, as the redactor has them. */
  readonly secrets: RunSecrets;
  /** True: a named store may take the runs of this folder for those of the program of the same name that it has. Default false. */
  readonly isTrusted?: boolean;
}

export interface LeaseOptions {
  /** Today's values of secrets known by name. */
  readonly known: readonly Secret[];
  /** Takes over a run of another machine, whose processes cannot be looked at. */
  readonly takeOver: boolean;
  /** True: damaged entries are no reason to reject, as nothing is executed. Default false. */
  readonly isUndo?: boolean;
  readonly createRedactor: (secrets: RunSecrets) => Redactor;
  /** Creates the facts that are added now: the beginning of a continuation, or answers. Throws if nothing can be added. */
  readonly begin: (facts: readonly Fact[], redactor: Redactor) => readonly Fact[];
}

/** A record that this process writes. `facts` are those that it had, and those that `begin` added. */
export interface OpenRecord extends Pick<RunRecord, "facts" | "times" | "isWhole"> {
  /** Closing it closes the record. */
  readonly journal: Journal;
  readonly redactor: Redactor;
  /** Keeps the contents that file tools replace, for `undo`. */
  readonly writes: WriteLog;
  readonly results: ResultKeeper;
  /** Keeps the files of a run, and returns their paths. A file that cannot be written has no path: the run is not lost for it. */
  keepArtifacts(artifacts: readonly Artifact[]): Promise<readonly Artifact[]>;
  /** Aborts with a `JournalError` when another process has taken the lease: nothing is recorded any more. */
  readonly lost: AbortSignal;
  /** Sentences for the user. */
  readonly notes: readonly string[];
}

/** Keeps whole results that were cut for the model. */
export interface ResultKeeper {
  /** Rejects if it cannot be kept. */
  keep(name: string, text: string): Promise<void>;
  /** Undefined for one that was not kept. */
  read(name: string): Promise<string | undefined>;
}

export interface RunFilter {
  /** Only runs of this program. Default: all of the store. */
  readonly program?: ProgramOfRun;
  /** Only the run with this id. */
  readonly id?: string;
}

/** A run in a list. */
export interface RunSummary {
  readonly id: string;
  /** The folder of its program, as the run that began the record knew it. */
  readonly root: string;
  /** When this store began it, in milliseconds since the epoch; undefined if nothing is recorded. */
  readonly began: number | undefined;
  /** The first and the last entry. */
  readonly ends?: JournalEnds;
  /** Why the journal cannot be read. */
  readonly problem?: string;
  /** Why no process executes a run that was submitted. */
  readonly waits?: string;
  /** Executors go on with it. Default false. */
  readonly isSubmitted?: boolean;
}
