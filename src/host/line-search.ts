import { once } from "node:events";
import { Worker } from "node:worker_threads";

export interface LineMatch {
  /** From 1. */
  readonly line: number;
  /** UTF-16 units from the line's beginning. */
  readonly column: number;
  readonly text: string;
}

export interface LineSearch {
  /** Finds the lines of a text that match, `limit` at most. Rejects with a `LineSearchTimeout` when the time is used up. */
  find(text: string, limit: number): Promise<readonly LineMatch[]>;
  /** Ends the thread. To be called on every exit path. */
  close(): Promise<void>;
}

export interface LineSearchOptions {
  /** For all its searches together. */
  readonly milliseconds: number;
  readonly signal?: AbortSignal;
}

export class LineSearchTimeout extends Error {
  override readonly name = "LineSearchTimeout";
}

/** The thread's program, as text, so that it is the same from sources and from a built package. */
const program = `
const { parentPort, workerData } = require("node:worker_threads");
const regex = new RegExp(workerData);
parentPort.on("message", ({ text, limit }) => {
  const found = [];
  const lines = text.split(/\\r\\n|\\n|\\r/);
  for (let index = 0; index < lines.length && found.length < limit; index++) {
    const column = lines[index].search(regex);
    if (column !== -1) found.push({ line: index + 1, column, text: lines[index].slice(0, 100000) });
  }
  parentPort.postMessage(found);
});`;

/**
 * Searches with a regular expression of unknown origin. One such as `(a+)+$` can take for ever, and nothing can stop it in our own
 * thread. So it runs in another, which is ended when all searches together took longer than `milliseconds`.
 */
export function openLineSearch(regex: string, options: LineSearchOptions): LineSearch {
  let worker: Worker | undefined;
  let left = options.milliseconds;
  return {
    find: async (text, limit) => {
      worker ??= new Worker(program, { eval: true, workerData: regex, env: {}, resourceLimits: { maxOldGenerationSizeMb: 512 } });
      const started = performance.now();
      try {
        return await ask(worker, { text, limit }, { ...options, milliseconds: left });
      } finally {
        left -= performance.now() - started;
      }
    },
    close: async () => {
      await worker?.terminate();
    },
  };
}

interface Question {
  readonly text: string;
  readonly limit: number;
}

async function ask(
  worker: Worker,
  question: Question,
  { milliseconds, signal }: LineSearchOptions,
): Promise<readonly LineMatch[]> {
  const timeout = AbortSignal.timeout(Math.max(0, Math.ceil(milliseconds)));
  worker.postMessage(question);
  try {
    // Rejects with the error of a worker that fails, too.
    const [found] = await once(worker, "message", { signal: AbortSignal.any(signal ? [signal, timeout] : [timeout]) });
    return found;
  } catch (error) {
    signal?.throwIfAborted();
    throw timeout.aborted ? new LineSearchTimeout() : error;
  }
}
