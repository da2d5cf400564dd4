import { Worker } from "node:worker_threads";

export interface LineMatch {
  /** From 1. */
  readonly line: number;
  /** UTF-16 units from the line's beginning. */
  readonly column: number;
  readonly text: string;
}

/** Files of one folder. */
export interface FolderSearch {
  readonly names: readonly string[];
  /** A path to the folder that holds in every thread of this process, or what is in each file. */
  readonly from: string | readonly Uint8Array[];
  /** A larger file is skipped. */
  readonly maxBytes: number;
  /** The most lines to find. */
  readonly limit: number;
}

export interface FolderLines {
  /** In the order of the names. */
  readonly matches: readonly { readonly name: string; readonly line: LineMatch }[];
  /** How many files are gone, too large or not text. */
  readonly skipped: number;
}

export interface LineSearch {
  /** One at a time. Rejects with a `LineSearchTimeout` when the time is used up. */
  find(wanted: FolderSearch): Promise<FolderLines>;
  /** Ends the thread. To be called on every exit path. */
  close(): Promise<void>;
}

export interface LineSearchOptions {
  /** For all its searches together, from the first on. */
  readonly milliseconds: number;
  readonly signal?: AbortSignal | undefined;
}

export class LineSearchTimeout extends Error {
  override readonly name = "LineSearchTimeout";
}

/**
 * Searches files for lines with a regular expression of unknown origin. One such as `(a+)+$` can take for ever, and nothing can stop
 * it in our own thread. So it runs in another, which is ended when all searches together took longer than `milliseconds`.
 */
export function openLineSearch(regex: string, { milliseconds, signal }: LineSearchOptions): LineSearch {
  let thread: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = Promise.withResolvers<never>();
  stop.promise.catch(() => undefined);
  const abort = () => stop.reject(signal?.reason);
  const start = () => {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
    timer = setTimeout(() => stop.reject(new LineSearchTimeout()), milliseconds);
    // In dist/ this file is part of another one, in a folder beside the thread's.
    const file = import.meta.url.endsWith(".ts") ? "./line-search-thread.ts" : "../host/line-search-thread.js";
    const started = new Worker(new URL(file, import.meta.url), {
      workerData: regex,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    started.on("error", stop.reject);
    return started;
  };
  return {
    find: async (wanted) => {
      thread ??= start();
      const { promise, resolve } = Promise.withResolvers<FolderLines>();
      thread.once("message", resolve);
      thread.postMessage(wanted);
      try {
        return await Promise.race([promise, stop.promise]);
      } catch (error) {
        // Before the folder is closed, whose path would lead elsewhere then.
        await thread.terminate();
        throw error;
      }
    },
    close: async () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      await thread?.terminate();
    },
  };
}
