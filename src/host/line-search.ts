import { Worker } from "node:worker_threads";

export interface LineMatch {
  /** From 1. */
  readonly line: number;
  /** UTF-16 units from the line's beginning. */
  readonly column: number;
  readonly text: string;
}

export interface LineSearch {
  /** The lines of a text that match, `limit` at most. Rejects with a `LineSearchTimeout` once the time is used up. */
  find(text: string, limit: number): Promise<readonly LineMatch[]>;
  /** On every exit path. Ends what is still running. */
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

/** In a thread of its own, as text, so that it is the same from sources and from a built package. */
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
 * Looks for a regular expression that somebody else wrote. JavaScript's can take for ever (`(a+)+$`), and nothing can stop one in our
 * own thread: so it runs in another, which is ended when all searches together took longer than `milliseconds`.
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

function ask(worker: Worker, question: Question, { milliseconds, signal }: LineSearchOptions): Promise<readonly LineMatch[]> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => settle(() => reject(new LineSearchTimeout())), Math.max(0, milliseconds));
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
      worker.off("message", answered).off("error", failed);
      end();
    };
    const answered = (found: readonly LineMatch[]) => settle(() => resolve(found));
    const failed = (error: unknown) => settle(() => reject(error));
    const aborted = () => settle(() => reject(signal?.reason));
    signal?.addEventListener("abort", aborted, { once: true });
    worker.on("message", answered).on("error", failed);
    worker.postMessage(question);
  });
}
