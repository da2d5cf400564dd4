import { writeSync } from "node:fs";
import { Session } from "node:inspector";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { letKeysInterrupt, restoreTerminal } from "../terminal/terminal-mode.ts";
import {
  endEvent,
  sameKeyPressMilliseconds,
  type ToMainThread,
  type ToWatchdog,
  type WatchdogData,
} from "./watchdog-protocol.ts";

/*
 * The thread of `watchdog.ts`. It receives the process's signals as the main thread does, and acts only where that one does not answer.
 */

/** Milliseconds for which code may keep the main thread. */
const patience = { firstPress: 1000, secondPress: 300, ending: 2000, keys: 1000 };
const pauseMilliseconds = 500;
const longestTimer = 2 ** 31 - 1;

const { hasTerminal, ...exitCodes } = workerData as WatchdogData;
const answers = new Map<number, () => void>();
let pings = 0;
let presses = 0;
let lastPress = Number.NEGATIVE_INFINITY;
let isEnding = false;
let deadline: NodeJS.Timeout | undefined;

/** Node offers signals to the main thread alone. Its own class for them works in every thread; a flag for its tests exposes it. */
interface SignalHandle {
  onsignal: () => void;
  unref(): void;
  start(signal: number): number;
}

interface NodeInternals {
  internalBinding(name: "signal_wrap"): { readonly Signal: new () => SignalHandle };
}

function listen(): void {
  const { internalBinding } = createRequire(import.meta.url)("internal/test/binding") as NodeInternals;
  const { Signal } = internalBinding("signal_wrap");
  const on = (name: "SIGINT" | "SIGTERM" | "SIGHUP", listener: () => unknown) => {
    const handle = new Signal();
    handle.unref();
    handle.onsignal = listener;
    handle.start(constants.signals[name]);
  };
  on("SIGINT", interrupt);
  on("SIGTERM", () => endOnceBlocked(exitCodes.terminated, "terminated"));
  on("SIGHUP", () => endOnceBlocked(exitCodes.hungUp, "the terminal is gone"));
  parentPort?.on("message", (message: ToWatchdog) => {
    if ("pong" in message) answers.get(message.pong)?.();
    else startDeadline(message);
  });
  parentPort?.postMessage("listening" satisfies ToMainThread);
  if (hasTerminal) void watchKeys();
}

function startDeadline(limit: Exclude<ToWatchdog, { readonly pong: number }>): void {
  clearTimeout(deadline);
  if (limit.seconds === undefined) return;
  const end = () => endOnceBlocked(exitCodes.limit, `the limit of ${limit.seconds} seconds is reached`);
  deadline = setTimeout(end, Math.min(limit.milliseconds, longestTimer));
}

/** The main thread reads Ctrl-C as a key at a question. While it does not answer, the terminal sends a signal for it. */
async function watchKeys(): Promise<void> {
  for (;;) {
    await delay(pauseMilliseconds);
    if (await mainThreadAnswers(patience.keys)) continue;
    const undo = letKeysInterrupt();
    while (!(await mainThreadAnswers(patience.keys)));
    undo?.();
  }
}

/** Counts the key presses in a row that the main thread does not answer: what a press that it answers means is its own affair. */
async function interrupt(): Promise<void> {
  const before = lastPress;
  lastPress = performance.now();
  if (lastPress - before < sameKeyPressMilliseconds) return;
  const isFirst = ++presses === 1;
  if (await mainThreadAnswers(isFirst ? patience.firstPress : patience.secondPress)) {
    presses = 0;
    return;
  }
  if (!isFirst) endProcess(exitCodes.interrupted, "interrupted");
  else if (presses === 1) say("the program's code does not yield; press Ctrl-C again to end at once");
}

/** Watches until the process is gone: code can block the main thread later, too. */
async function endOnceBlocked(exitCode: number, why: string): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  while (await mainThreadAnswers(patience.ending)) await delay(pauseMilliseconds);
  endProcess(exitCode, why);
}

function mainThreadAnswers(milliseconds: number): Promise<boolean> {
  const ping = ++pings;
  return new Promise((resolve) => {
    const settle = (isAnswered: boolean) => {
      clearTimeout(timer);
      answers.delete(ping);
      resolve(isAnswered);
    };
    const timer = setTimeout(settle, milliseconds, false);
    answers.set(ping, () => settle(true));
    parentPort?.postMessage({ ping } satisfies ToMainThread);
  });
}

/** The debugger interrupts code that runs. Code that waits in the system cannot be interrupted: then the process is killed. */
function endProcess(exitCode: number, why: string): void {
  say(`${why}, and the program's code does not yield: the process is ended`);
  setTimeout(() => {
    restoreTerminal();
    process.kill(process.pid, "SIGKILL");
  }, 1000);
  const session = new Session();
  session.connectToMainThread();
  session.post("Runtime.evaluate", { expression: `process.emit(${JSON.stringify(endEvent)}, ${exitCode})` });
}

function say(text: string): void {
  try {
    writeSync(2, `\nllm-do: ${text}\n`);
  } catch {
    // The reader is gone.
  }
}

listen();
