import type { AppendFile, Host } from "../host/host.ts";
import type { JournalFact, Step, StepSeam } from "../protocol/journal-entry.ts";
import { errorMessage } from "../util/error-message.ts";
import type { Redactor } from "../util/redactor.ts";
import { type Blob, externalize } from "./blobs.ts";

/** Records the facts of one run. Written ahead: a step's intent is in the file before the step starts. */
export interface Journal {
  /** Appends a fact, after all earlier ones. Never throws; a failed write surfaces in the next `step` or in `close`. */
  record(fact: JournalFact): void;
  readonly step: StepSeam;
  /** Writes what is pending and closes. Never rejects; gives what went wrong, so that no loss is silent. */
  close(): Promise<JournalError | undefined>;
}

/** The journal cannot be written: the run stops, because what it did from here on would be forgotten. */
export class JournalError extends Error {
  constructor(cause: unknown) {
    super(`the journal cannot be written: ${errorMessage(cause)}`, { cause });
    this.name = "JournalError";
  }
}

export interface JournalOptions {
  readonly host: Host;
  /** Absolute path of the run's own folder; made here, readable for its owner alone. */
  readonly directory: string;
  readonly redactor: Redactor;
}

export async function createJournal(options: JournalOptions): Promise<Journal> {
  const { host, directory } = options;
  try {
    await host.files.makeDirectory(directory, 0o700);
    return new FileJournal(options, await host.files.openAppend(`${directory}/journal.jsonl`, 0o600));
  } catch (cause) {
    throw new JournalError(cause);
  }
}

/** For runs that keep none. */
export const noJournal: Journal = {
  record: () => undefined,
  step: (_step, fn) => fn(),
  close: async () => undefined,
};

class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #file: AppendFile;
  readonly #blobs = new Set<string>();
  #tail: Promise<void> = Promise.resolve();
  #failure: JournalError | undefined;
  #entries = 0;
  #steps = 0;
  #ended = false;

  constructor(options: JournalOptions, file: AppendFile) {
    this.#options = options;
    this.#file = file;
  }

  readonly step: StepSeam = async <T>(step: Step<T>, fn: () => Promise<T>): Promise<T> => {
    if (this.#ended) throw new JournalError(new Error("the run has ended"));
    const { callPath, kind, detail, sideEffect } = step;
    const number = this.#steps++;
    this.record({ type: "intent", callPath, step: number, kind, detail, sideEffect });
    await this.#written(sideEffect);
    try {
      const result = await fn();
      this.record({ type: "result", callPath, step: number, kind, ok: true, detail: step.describe(result) });
      return result;
    } catch (thrown) {
      this.record({
        type: "result",
        callPath,
        step: number,
        kind,
        ok: false,
        detail: { error: errorMessage(thrown), ...step.describeFailure?.() },
      });
      throw thrown;
    }
  };

  record(fact: JournalFact): void {
    if (this.#ended) return;
    this.#ended = fact.type === "run-end";
    const time = this.#options.host.clock.now();
    this.#tail = this.#tail.then(() => this.#write(fact, time));
  }

  async close(): Promise<JournalError | undefined> {
    await this.#tail;
    const note = (cause: unknown) => {
      this.#failure ??= new JournalError(cause);
    };
    await this.#file.sync().catch(note);
    await this.#file.close().catch(note);
    return this.#failure;
  }

  async #written(durable: boolean): Promise<void> {
    await this.#tail;
    if (this.#failure) throw this.#failure;
    if (!durable) return;
    await this.#file.sync().catch((cause: unknown) => {
      this.#failure = new JournalError(cause);
      throw this.#failure;
    });
  }

  async #write(fact: JournalFact, time: number): Promise<void> {
    if (this.#failure) return;
    try {
      const { value, blobs } = externalize(this.#options.redactor.json(fact), this.#options.redactor);
      for (const blob of blobs) await this.#writeBlob(blob);
      this.#file.append(`${JSON.stringify({ v: 1, n: this.#entries, time, ...(value as object) })}\n`);
      this.#entries++;
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
