import type { AppendFile, Host } from "../host/host.ts";
import { nextTurn } from "../host/next-turn.ts";
import type { Fact } from "../protocol/fact.ts";
import { errorMessage } from "../util/error-message.ts";
import type { Redactor } from "../util/redactor.ts";
import { type Blob, externalize, type KnownFiles, toPlainText } from "./blobs.ts";
import type { PrivateFolder } from "./private-folder.ts";
import { type KnownValues, noteValue, withReferences } from "./references.ts";

/** Keeps the facts of one run, in their order. */
export interface Journal {
  /**
   * Appends a fact, after all earlier ones. It is written with the next `written`, or in the next turn of the event loop. Never throws; a
   * failed write surfaces in the next `written` or in `close`.
   */
  append(fact: Fact): void;
  /**
   * Resolves when all facts so far are written; with `durable`, when they are on disk. `shared`: they are written in the next turn of the
   * event loop, with what is recorded until then. Rejects with a `JournalError`. Undefined where there is nothing to wait for.
   */
  written(options: { readonly durable: boolean; readonly shared?: boolean }): Promise<void> | undefined;
  /** Writes what is pending and closes. Never rejects; returns what went wrong, so that no loss is silent. */
  close(): Promise<JournalError | undefined>;
}

/** The journal cannot be written: the run stops, because what it did from here on would be forgotten. */
export class JournalError extends Error {
  /** True where it was to be made: there is no run yet. */
  readonly isNew: boolean;

  constructor(cause: unknown, isNew = false) {
    super(`the journal cannot be written: ${errorMessage(cause)}`, { cause });
    this.name = "JournalError";
    this.isNew = isNew;
  }
}

export interface JournalOptions {
  readonly host: Host;
  /** Absolute path of the run's own folder; made here, readable for its owner alone. */
  readonly directory: string;
  readonly redactor: Redactor;
  /** Keeps what the journal must not hold. Closed with the journal. */
  readonly private: PrivateFolder;
  /** How many entries the journal has: it goes on after them. Default: none, and it is a new one. */
  readonly entries?: number;
}

export async function createJournal(options: JournalOptions): Promise<Journal> {
  const { host, directory } = options;
  try {
    await host.files.makeDirectory(directory, 0o700);
    const journal = new FileJournal(options, await host.files.openAppend(`${directory}/journal.jsonl`, 0o600));
    openJournals.add(`${host.processes.self}\n${directory}`);
    return journal;
  } catch (cause) {
    throw new JournalError(cause, options.entries === undefined);
  }
}

/** The journals that runs of this process write. */
const openJournals = new Set<string>();

/** True while a run of this process writes the journal. */
export function isOpen({ processes }: Pick<Host, "processes">, directory: string): boolean {
  return openJournals.has(`${processes.self}\n${directory}`);
}

/** For runs that keep none. */
export const noJournal: Journal = {
  append: () => undefined,
  written: () => undefined,
  close: async () => undefined,
};

/** A fact in the form in which it is written. */
interface Line {
  readonly text: string;
  /** Writes first what the line refers to. Absent: it refers to nothing. */
  readonly prepare?: () => Promise<void>;
}

class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #file: AppendFile;
  readonly #blobs = new Set<string>();
  readonly #files: KnownFiles = new WeakMap();
  readonly #values: KnownValues = new WeakMap();
  #pending: Line[] = [];
  /** Resolves when all lines so far are written. */
  #scheduled: Promise<void> | undefined;
  #tail: Promise<void> | undefined;
  #failure: JournalError | undefined;
  #entries: number;
  /** True once a loss of power must not take what is written: after a side effect, and in a run that goes on. */
  #isLasting: boolean;
  #ended = false;
  #closed: Promise<JournalError | undefined> | undefined;

  constructor(options: JournalOptions, file: AppendFile) {
    this.#options = options;
    this.#file = file;
    this.#entries = options.entries ?? 0;
    this.#isLasting = this.#entries > 0;
  }

  append(fact: Fact): void {
    if (this.#ended || this.#failure) return;
    this.#ended = fact.type === "run-end";
    try {
      // Made at once: those who have the fact's members can change them later.
      this.#pending.push(this.#toLine(fact));
    } catch (cause) {
      this.#failure = new JournalError(cause);
    }
    const isFirst = this.#entries === (this.#options.entries ?? 0) + 1;
    // A run that is seen has a start.
    if (isFirst) this.#scheduled = this.#flush();
    else if (this.#pending.length === 1) this.#scheduled = nextTurn().then(() => this.#flush());
  }

  written({ durable, shared = false }: { readonly durable: boolean; readonly shared?: boolean }): Promise<void> | undefined {
    if (this.#ended) return Promise.reject(new JournalError(new Error("the run has ended")));
    const writing = shared && !durable ? this.#scheduled : this.#flush();
    return writing || durable || this.#failure ? this.#settle(writing, durable) : undefined;
  }

  async #settle(writing: Promise<void> | undefined, durable: boolean): Promise<void> {
    await writing;
    if (this.#failure) throw this.#failure;
    if (!durable) return;
    this.#isLasting = true;
    await this.#options.private.sync();
    await this.#file.sync().catch((cause: unknown) => {
      this.#failure = new JournalError(cause);
      throw this.#failure;
    });
  }

  close(): Promise<JournalError | undefined> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<JournalError | undefined> {
    await this.#flush();
    const note = (cause: unknown) => {
      this.#failure ??= new JournalError(cause);
    };
    const { host, directory } = this.#options;
    openJournals.delete(`${host.processes.self}\n${directory}`);
    await this.#options.private.close();
    if (this.#isLasting) await this.#file.sync().catch(note);
    await this.#file.close().catch(note);
    return this.#failure;
  }

  #toLine(whole: Fact): Line {
    const { host, redactor, private: folder } = this.#options;
    const fact = withReferences(whole, this.#values);
    const head = `{"v":${fact === whole ? 2 : 3},"n":${this.#entries},"time":${host.clock.now()}`;
    noteValue(this.#values, whole, this.#entries++);
    const plain = toPlainText(fact, redactor);
    if (plain !== undefined) return { text: `${head},${plain.slice(1)}\n` };
    const { value, blobs, secrets, privateBlobs } = externalize(fact, { redactor, secrets: folder.secrets, files: this.#files });
    const text = `${head},${JSON.stringify(value).slice(1)}\n`;
    if (blobs.length + secrets.length + privateBlobs.length === 0) return { text };
    const prepare = async () => {
      if (secrets.length + privateBlobs.length > 0) await folder.keep(secrets, privateBlobs);
      for (const blob of blobs) await this.#writeBlob(blob);
    };
    return { text, prepare };
  }

  /**
   * Resolves when all lines so far are written, in one piece but where one of them refers to what has to be there before. Undefined where
   * they are written at once.
   */
  #flush(): Promise<void> | undefined {
    if (this.#tail) return this.#tail.then(() => this.#flush());
    const lines = this.#pending;
    this.#pending = [];
    if (!lines.some(({ prepare }) => prepare)) {
      this.#write(lines);
      return undefined;
    }
    this.#tail = this.#prepareAndWrite(lines).finally(() => {
      this.#tail = undefined;
    });
    return this.#tail;
  }

  async #prepareAndWrite(lines: readonly Line[]): Promise<void> {
    let from = 0;
    try {
      for (const [index, { prepare }] of lines.entries()) {
        if (!prepare) continue;
        this.#write(lines.slice(from, index));
        from = index;
        if (!this.#failure) await prepare();
      }
      this.#write(lines.slice(from));
    } catch (cause) {
      this.#failure ??= new JournalError(cause);
    }
  }

  #write(lines: readonly Line[]): void {
    if (this.#failure || lines.length === 0) return;
    try {
      this.#file.append(lines.map(({ text }) => text).join(""));
    } catch (cause) {
      this.#failure = new JournalError(cause);
    }
  }

  async #writeBlob(blob: Blob): Promise<void> {
    if (this.#blobs.has(blob.digest)) return;
    const { host, directory } = this.#options;
    const folder = `${directory}/blobs`;
    await host.files.makeDirectory(folder, 0o700);
    await host.files.writeAtomically(`${folder}/${blob.digest}`, blob.content, 0o600);
    this.#blobs.add(blob.digest);
  }
}
