import { closeSync, constants, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import type { AppendFile } from "../host.ts";
import { noFollow } from "./read-flags.ts";
import type { SystemPath } from "./system-path.ts";

/**
 * Opens a file for appending. `append` returns when the system has the text, so that a killed process loses nothing; `sync`
 * puts it on disk. A link is not followed; without a `mode`, a missing file is not created. Callers that wait at the same time share one `fdatasync`.
 */
export function openAppendFile(path: SystemPath, mode: number | undefined): AppendFile {
  const create = mode === undefined ? 0 : constants.O_CREAT;
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_APPEND | create | noFollow, mode);
  try {
    return new NodeAppendFile(descriptor);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

const syncData = promisify(fdatasync);

class NodeAppendFile implements AppendFile {
  readonly #descriptor: number;
  #appended = 0;
  #synced = 0;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isClosed = false;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  append(text: string): void {
    if (this.#isClosed) throw new Error("the file is closed");
    const length = Buffer.byteLength(text);
    let done = 0;
    try {
      done = writeSync(this.#descriptor, text);
      // The system can write a part, but seldom does.
      while (done < length) done += writeSync(this.#descriptor, Buffer.from(text), done);
      this.#appended += done;
    } catch (error) {
      this.#takeBack(done);
      throw error;
    }
  }

  size(): number | undefined {
    const { nlink, size } = fstatSync(this.#descriptor);
    return nlink === 0 ? undefined : size;
  }

  sync(): Promise<void> {
    if (this.#synced === this.#appended) return Promise.resolve();
    if (this.#running === undefined) return this.#start();
    // The running sync may have begun before the last append. One more is needed, shared by all callers that wait.
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#start();
      });
    return this.#next;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#running || this.#next) await Promise.allSettled([this.#running, this.#next]);
    closeSync(this.#descriptor);
  }

  /** Removes a half-written line, which would spoil the next one. No other process appends to this file. */
  #takeBack(bytes: number): void {
    if (bytes === 0) return;
    try {
      ftruncateSync(this.#descriptor, fstatSync(this.#descriptor).size - bytes);
    } catch {
      this.#appended += bytes;
    }
  }

  #start(): Promise<void> {
    const appended = this.#appended;
    this.#running = syncData(this.#descriptor)
      .then(() => {
        this.#synced = appended;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }
}
