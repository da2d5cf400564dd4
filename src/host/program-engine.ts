import type { Worker } from "node:worker_threads";
import type { JsonValue } from "../protocol/json.ts";
import type { ToolError } from "../protocol/tool.ts";
import { abortable } from "../util/async/abortable.ts";
import { errorMessage } from "../util/text/error-message.ts";

export interface ProgramLimits {
  /** The most of the interpreter's heap. */
  readonly memoryBytes: number;
  /** The time in which the program computes, and waits for no call. */
  readonly milliseconds: number;
  readonly calls: number;
  /** UTF-16 units of all that it says: calls with their input, what it prints, its result. */
  readonly characters: number;
}

export interface ProgramStart {
  /** The body of an async function of `input`, in JavaScript. */
  readonly source: string;
  /** JSON. */
  readonly input: string;
  readonly most: ProgramLimits;
}

/** `id`: of a call, from 0 in the order in which the program made them. */
export type CallAnswer = { readonly id: number; readonly value: JsonValue } | { readonly id: number; readonly error: ToolError };

/** The work of a program from one set of answers to the point at which it waits for others, or ends. All of it is text of the program. */
export interface ProgramTurn {
  /** The calls that it wants: JSON, unless the program changed what makes it. */
  readonly calls: readonly string[];
  readonly printed: readonly string[];
  /** `end`: JSON with its `value`. `unsure`: the same, of what `unsure` gave it. `failed`: JSON with `message` and `stack`. `stopped`: why it was ended. */
  readonly end?: { readonly type: "end" | "unsure" | "failed" | "stopped"; readonly text: string };
}

export interface ProgramEngine {
  /** Gives the program answers to its calls; none at first. Rejects with the signal's reason on an abort. */
  next(answers: readonly CallAnswer[]): Promise<ProgramTurn>;
  /** Ends the thread. To be called on every way out. */
  close(): Promise<void>;
}

/** The time that a regular expression, which nothing interrupts, can take beyond the limit. */
const graceMilliseconds = 500;
/** Node's own part of a thread, in bytes of the interpreter's heap: a text that comes in or goes out, and its copies. */
const heapOfThread = 4;

/**
 * Executes a program of unknown origin in an interpreter in WebAssembly, in a thread of its own. It has no power but to name calls, whose
 * answers come from here: no file, no network, no module, no clock, no randomness. Its texts are the only thing that leaves the thread.
 */
export function openProgram(start: ProgramStart, signal: AbortSignal): ProgramEngine {
  const { milliseconds, memoryBytes } = start.most;
  // Two bytes for each: the interpreter has no room for a longer text, and Node ends the process if a thread has none.
  const isTooLong = (text: string) => text.length > memoryBytes / 2;
  let turn = Promise.withResolvers<ProgramTurn>();
  let timer: NodeJS.Timeout | undefined;
  let spent = 0;
  let isWaiting = false;
  const end = (text: string) => turn.resolve({ calls: [], printed: [], end: { type: "stopped", text } });
  const begin = () => {
    const begun = performance.now();
    const late = () => end(`it computed for ${milliseconds / 1000} seconds`);
    timer = setTimeout(late, milliseconds - spent + graceMilliseconds);
    turn.promise.finally(() => {
      clearTimeout(timer);
      spent += performance.now() - begun;
    });
  };
  if (isTooLong(start.source) || isTooLong(start.input)) return stillborn("its input is larger than its memory");
  const worker = startThread(start);
  worker.on("message", (made: ProgramTurn | "started") => (made === "started" ? begin() : turn.resolve(made)));
  worker.on("error", (error) => end(`the interpreter failed: ${errorMessage(error)}`));
  worker.on("exit", () => end("the interpreter ended"));
  return {
    next: async (answers) => {
      signal.throwIfAborted();
      if (isWaiting) {
        turn = Promise.withResolvers();
        const text = JSON.stringify(answers);
        begin();
        if (isTooLong(text)) end("the results that it waits for are larger than its memory");
        else worker.postMessage(text);
      }
      isWaiting = true;
      return abortable(turn.promise, signal);
    },
    close: async () => {
      clearTimeout(timer);
      await worker.terminate();
    },
  };
}

function stillborn(text: string): ProgramEngine {
  return { next: async () => ({ calls: [], printed: [], end: { type: "stopped", text } }), close: async () => undefined };
}

function startThread(start: ProgramStart): Worker {
  // In dist/ this file is part of another one, in a folder beside the thread's.
  const file = import.meta.url.endsWith(".ts") ? "./program-thread.ts" : "../host/program-thread.js";
  // Not imported: few runs have a program, and each would load the module.
  const threads = process.getBuiltinModule("node:worker_threads");
  return new threads.Worker(new URL(file, import.meta.url), {
    workerData: start,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64 + Math.ceil((heapOfThread * start.most.memoryBytes) / 2 ** 20) },
  });
}
