import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";

export interface LineMatch {
  /** From 1. */
  readonly line: number;
  /** UTF-16 units from the line's beginning. */
  readonly column: number;
  /** The line; of one with more than 300 UTF-16 units, at most 1000 around the match. */
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

/** Files in the order of the names, without those that hold no match. */
export type FolderLines = readonly {
  readonly name: string;
  /** Undefined for a file that is gone, too large or not text. */
  readonly lines: readonly LineMatch[] | undefined;
}[];

export interface LineSearch {
  /** Rejects with a `LineSearchTimeout` when the time is used up. The files' folder must stay open until it settles. */
  find(wanted: FolderSearch): Promise<FolderLines>;
  /** Ends the threads, and rejects what they still search. To be called on every exit path. */
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

interface Thread {
  readonly worker: Worker;
  /** In the order in which they were asked for, which is that of the answers. */
  readonly awaited: PromiseWithResolvers<FolderLines>[];
}

/** Another thread takes as long to start as a thousand small files to search: few searches need one. */
const filesOfOneThread = 2000;
const mostThreads = Math.min(4, availableParallelism());

/**
 * Searches files for lines with a regular expression of unknown origin. One such as `(a+)+$` can take for ever, and nothing can stop
 * it in our own thread. So it runs in others, which are ended when all searches together took longer than `milliseconds`.
 */
export function openLineSearch(regex: string, { milliseconds, signal }: LineSearchOptions): LineSearch {
  const threads: Thread[] = [];
  let timer: NodeJS.Timeout | undefined;
  let files = 0;
  let ended: { readonly reason: unknown } | undefined;
  const end = async (reason: unknown) => {
    ended ??= { reason };
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    // Before anything is rejected: whoever waits closes folders then, whose paths would lead elsewhere.
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
    for (const { awaited } of threads) for (const answer of awaited.splice(0)) answer.reject(ended.reason);
  };
  const abort = () => void end(signal?.reason);
  const begin = () => {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
    timer = setTimeout(() => void end(new LineSearchTimeout()), milliseconds);
  };
  const leastBusy = () => {
    if (threads.length === 0) begin();
    const [least] = threads.toSorted((a, b) => a.awaited.length - b.awaited.length);
    const isEnough = least?.awaited.length === 0 || files < filesOfOneThread || threads.length >= mostThreads;
    if (least !== undefined && isEnough) return least;
    const thread = startThread(regex, end);
    threads.push(thread);
    return thread;
  };
  return {
    find: async (wanted) => {
      if (ended) throw ended.reason;
      const { worker, awaited } = leastBusy();
      files += wanted.names.length;
      const answer = Promise.withResolvers<FolderLines>();
      awaited.push(answer);
      worker.postMessage(wanted);
      return answer.promise;
    },
    close: () => end(new Error("the search was closed")),
  };
}

function startThread(regex: string, onError: (error: unknown) => void): Thread {
  // In dist/ this file is part of another one, in a folder beside the thread's.
  const file = import.meta.url.endsWith(".ts") ? "./line-search-thread.ts" : "../host/scopes/line-search-thread.js";
  // Not imported: few runs search, and each would load the module.
  const threads = process.getBuiltinModule("node:worker_threads");
  const worker = new threads.Worker(new URL(file, import.meta.url), {
    workerData: regex,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const awaited: Thread["awaited"] = [];
  worker.on("message", (found: FolderLines) => awaited.shift()?.resolve(found));
  worker.on("error", onError);
  return { worker, awaited };
}
