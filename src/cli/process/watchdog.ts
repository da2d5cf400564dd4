import { closeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { exitCodes } from "../exit-codes.ts";
import { endEvent, type ToMainThread, type ToWatchdog, type WatchdogData } from "./watchdog-protocol.ts";

/**
 * Ends the process if code of the program keeps the main thread, so that neither a signal nor a timer reaches it: at a second Ctrl-C,
 * at SIGTERM and SIGHUP, and when the time is up.
 */
export interface Watchdog extends Disposable {
  /** Starts the thread. Called before code of the program runs: a program without code pays nothing. */
  start(): void;
  /** Resolves when the thread receives signals; at once where it was not started. */
  ready(): Promise<void>;
  /** Sets the seconds that are left from now on, in place of earlier ones. Undefined: no limit. */
  limit(seconds: number | undefined): void;
}

export function createWatchdog({ hasTerminal }: { readonly hasTerminal: boolean }): Watchdog {
  let thread: Worker | undefined;
  let ready = Promise.resolve();
  let deadline: { readonly seconds: number; readonly end: number } | undefined;
  const post = (message: ToWatchdog) => thread?.postMessage(message);
  const postDeadline = () =>
    post(deadline ? { seconds: deadline.seconds, milliseconds: deadline.end - performance.now() } : { seconds: undefined });
  return {
    start: () => {
      if (thread) return;
      const started = startThread({ hasTerminal, onPing: (ping) => post({ pong: ping }) });
      ready = new Promise((resolve) => {
        const listening = () => {
          started.unref();
          resolve();
        };
        for (const event of ["message", "exit"]) started.once(event, listening);
      });
      thread = started;
      process.on(endEvent, endAtOnce);
      if (deadline) postDeadline();
    },
    ready: () => ready,
    limit: (seconds) => {
      deadline = seconds === undefined ? undefined : { seconds, end: performance.now() + seconds * 1000 };
      postDeadline();
    },
    [Symbol.dispose]: () => {
      process.off(endEvent, endAtOnce);
      void thread?.terminate();
      thread = undefined;
    },
  };
}

interface ThreadOptions {
  readonly hasTerminal: boolean;
  readonly onPing: (ping: number) => void;
}

function startThread({ hasTerminal, onPing }: ThreadOptions): Worker {
  const { interrupted, terminated, hungUp, limit } = exitCodes;
  // In dist/ this file is part of another one, in cli/ or in a folder beside it.
  const file = import.meta.url.endsWith(".ts") ? "./watchdog-thread.ts" : "../cli/process/watchdog-thread.js";
  const thread = new Worker(new URL(file, import.meta.url), {
    workerData: { interrupted, terminated, hungUp, limit, hasTerminal } satisfies WatchdogData,
    execArgv: ["--expose-internals", "--no-warnings"],
  });
  thread.on("message", (message: ToMainThread) => message !== "listening" && onPing(message.ping));
  // A Node whose internals have changed: the run goes on without.
  thread.on("error", () => undefined);
  return thread;
}

/** Runs while code of the program is interrupted. What listens to `exit` cleans up. */
function endAtOnce(exitCode: number): void {
  // Node would report there that a debugger is connected.
  process.once("exit", () => closeSync(2));
  process.exit(exitCode);
}
