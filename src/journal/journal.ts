import { nextTurn } from "../host/next-turn.ts";
import type { Fact } from "../protocol/fact.ts";
import { errorMessage } from "../util/text/error-message.ts";
import type { EncodedFact, FactEncoder } from "./encode.ts";

/** Keeps the facts of one run, in their order. */
export interface Journal {
  /**
   * Appends a fact, after all earlier ones. It is written with the next `written`, or in the next turn of the event loop. Never throws; a
   * failed write surfaces in the next `written` or in `close`.
   */
  append(fact: Fact): void;
  /**
   * Resolves when all facts so far are written; with `durable`, when they are on disk. `shared`: they are written in the next turn of the
   * event loop, with what is recorded until then. Rejects with a `JournalError`. Undefined if there is nothing to wait for.
   */
  written(options: { readonly durable: boolean; readonly shared?: boolean }): Promise<void> | undefined;
  /** Writes pending lines and closes. Never rejects; returns the failure, so that no loss is silent. */
  close(): Promise<JournalError | undefined>;
}

/** The journal cannot be written: the run stops, because its later facts would be forgotten. */
export class JournalError extends Error {
  /** True if it was to be made: there is no run yet. */
  readonly isNew: boolean;

  constructor(cause: unknown, isNew = false) {
    super(`${isNew ? "the run cannot be recorded" : "the journal cannot be written"}: ${errorMessage(cause)}`, { cause });
    this.name = "JournalError";
    this.isNew = isNew;
  }
}

/** For runs that keep none. */
export const noJournal: Journal = {
  append: () => undefined,
  written: () => undefined,
  close: async () => undefined,
};

/** The target of a journal's lines. */
export interface JournalWriter {
  /** Writes the blobs of a fact, before its line. */
  prepare(fact: EncodedFact): Promise<void>;
  /** Appends lines. Undefined if that is done at once. Throws or rejects with the system's error, and if the lease is lost. */
  append(lines: string): Promise<void> | undefined;
  /** Resolves when everything that was appended and prepared is on disk. Rejects if it cannot be, and if the lease is lost. */
  sync(): Promise<void>;
  /** `durable`: written lines are put on disk before. The lease may be another's by then. */
  close(options: { readonly durable: boolean }): Promise<void>;
}

/** `entries`: how many the record has; default none, and it is a new one. */
export function createJournal(encoder: FactEncoder, writer: JournalWriter, entries = 0): Journal {
  return new BatchedJournal(encoder, writer, entries);
}

/** A fact in the form in which it is written. */
interface Line {
  readonly text: string;
  /** Absent: it refers to nothing. */
  readonly fact?: EncodedFact;
}

class BatchedJournal implements Journal {
  readonly #encoder: FactEncoder;
  readonly #writer: JournalWriter;
  #pending: Line[] = [];
  /** Resolves when all lines so far are written. */
  #scheduled: Promise<void> | undefined;
  #tail: Promise<void> | undefined;
  #failure: JournalError | undefined;
  #isFirst = true;
  /** True once a loss of power must not take what is written: after a side effect, and in a run that goes on. */
  #isLasting: boolean;
  #ended = false;
  #closed: Promise<JournalError | undefined> | undefined;

  constructor(encoder: FactEncoder, writer: JournalWriter, entries: number) {
    this.#encoder = encoder;
    this.#writer = writer;
    this.#isLasting = entries > 0;
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
    // A run that is seen has a start.
    if (this.#isFirst) this.#scheduled = this.#flush();
    else if (this.#pending.length === 1) this.#scheduled = nextTurn().then(() => this.#flush());
    this.#isFirst = false;
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
    await this.#writer.sync().catch((cause: unknown) => {
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
    await this.#writer.close({ durable: this.#isLasting }).catch(note);
    return this.#failure;
  }

  #toLine(whole: Fact): Line {
    const fact = this.#encoder.encode(whole);
    const { line, blobs, secrets, privateBlobs } = fact;
    return blobs.length + secrets.length + privateBlobs.length === 0 ? { text: line } : { text: line, fact };
  }

  /**
   * Resolves when all lines so far are written, in one piece but if one of them refers to what has to be there before. Undefined where
   * they are written at once.
   */
  #flush(): Promise<void> | undefined {
    if (this.#tail) return this.#tail.then(() => this.#flush());
    const lines = this.#pending;
    this.#pending = [];
    const writing = lines.some(({ fact }) => fact) ? this.#prepareAndWrite(lines) : this.#write(lines);
    this.#tail = writing?.finally(() => {
      this.#tail = undefined;
    });
    return this.#tail;
  }

  async #prepareAndWrite(lines: readonly Line[]): Promise<void> {
    let from = 0;
    try {
      for (const [index, { fact }] of lines.entries()) {
        if (!fact) continue;
        await this.#write(lines.slice(from, index));
        from = index;
        if (!this.#failure) await this.#writer.prepare(fact);
      }
      await this.#write(lines.slice(from));
    } catch (cause) {
      this.#failure ??= new JournalError(cause);
    }
  }

  /** Undefined if the lines are written at once. Never throws or rejects. */
  #write(lines: readonly Line[]): Promise<void> | undefined {
    if (this.#failure || lines.length === 0) return undefined;
    const fail = (cause: unknown) => {
      this.#failure ??= new JournalError(cause);
    };
    try {
      return this.#writer.append(lines.map(({ text }) => text).join(""))?.catch(fail);
    } catch (cause) {
      fail(cause);
      return undefined;
    }
  }
}
