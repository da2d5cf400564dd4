import { close, closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import type { AppendFile } from "./host.ts";

/**
 * Opens a file for appending. Each `append` is in the system's hands when it returns, so that a killed process loses
 * nothing that it appended; `sync` puts it on disk. Callers that wait at the same time share one `fdatasync`.
 */
export function openAppendFile(path: string, mode: number): AppendFile {
  const descriptor = openSync(path, "a", mode);
  try {
    return new NodeAppendFile(descriptor);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

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
    const bytes = Buffer.from(text);
    // A full disk, a quota or a signal can take part of it: the rest goes on where that ended.
    for (let done = 0; done < bytes.length; ) {
      const written = writeSync(this.#descriptor, bytes, done);
      done += written;
      this.#appended += written;
    }
  }

  sync(): Promise<void> {
    if (this.#synced === this.#appended) return Promise.resolve();
    if (this.#running === undefined) return this.#start();
    // What is running may have begun before the last append: one more is needed, and everybody who waits shares it.
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
    await Promise.allSettled([this.#running, this.#next]);
    await promisify(close)(this.#descriptor);
  }

  #start(): Promise<void> {
    const appended = this.#appended;
    this.#running = promisify(fdatasync)(this.#descriptor)
      .then(() => {
        this.#synced = appended;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }
}
