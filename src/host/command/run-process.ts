import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isZombie } from "../files/node-system.ts";
import { type Child, describeFailure, type Exit, startChild } from "./child.ts";
import { type Ended, type Launch, neverStarted, type ProcessLimits } from "./launch.ts";
import { countProcesses, endMarked, markerName } from "./marked-processes.ts";

/** Time between SIGTERM and SIGKILL. */
const graceMilliseconds = 2000;
/** How long a pipe may stay open after all known processes have ended. */
const pipeMilliseconds = 1000;
/** A process that is stuck in the kernel survives even SIGKILL for a while. It is not waited for any longer than this. */
const stuckMilliseconds = 5000;

const stuck: Exit = { exitCode: 137 };

/**
 * Runs a process to its end, its time-out or its abort, and resolves in each case. Nothing of it is left then: processes that left
 * its process group are found by `LLM_DO_COMMAND` in their environment.
 */
export async function runProcess(launch: Launch, limits: ProcessLimits): Promise<Ended> {
  const marker = launch.environment[markerName];
  const before = marker === undefined ? undefined : countProcesses();
  let child: Child;
  try {
    child = startChild(launch, limits);
  } catch (error) {
    const { message, ...exit } = describeFailure(error);
    return neverStarted(message, exit);
  }
  remember(child);
  const waiting = new AbortController();
  try {
    const reason = await Promise.race([child.ended.then(() => "exit" as const), stopReason(limits, waiting.signal)]);
    if (reason !== "exit") await stop(child);
    child.signal("SIGKILL");
    if (marker !== undefined) await endMarked(marker, before);
    await clear(child);
    const exit = await Promise.race([child.exited, stuck]);
    return {
      exitCode: reason === "time-out" ? -1 : exit.exitCode,
      timedOut: reason === "time-out",
      aborted: reason === "abort",
      failure: exit.failure,
      stdout: child.stdout.read(),
      stderr: child.stderr.read(),
      hasBegun: child.hasBegun(),
    };
  } finally {
    waiting.abort();
    living.delete(child);
  }
}

async function stopReason(limits: ProcessLimits, done: AbortSignal): Promise<"time-out" | "abort"> {
  const { signal, timeoutMilliseconds } = limits;
  try {
    await delay(timeoutMilliseconds, undefined, { signal: AbortSignal.any([signal, done]) });
    return "time-out";
  } catch {
    return "abort";
  }
}

async function stop(child: Child): Promise<void> {
  if (!child.hasBegun()) {
    child.refuse();
    await settles(child.exited, stuckMilliseconds);
    return;
  }
  child.signal("SIGTERM");
  if (await settles(child.exited, graceMilliseconds)) return;
  child.signal("SIGKILL");
  await settles(child.exited, stuckMilliseconds);
}

/** Reads the rest of the pipes, and waits until nothing of the command is left. */
async function clear(child: Child): Promise<void> {
  // In the wall, the pipes close when its processes end: nothing is to be waited for then.
  if (!(await settles(child.closed, pipeMilliseconds))) child.abandon();
  const watched = child.watched();
  if (watched !== undefined) await waitUntilGone(watched, stuckMilliseconds);
}

/** Waits for the end of a process (of Linux): a process namespace that it was the first of is empty then. */
async function waitUntilGone(pid: number, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  for (let pause = 1; !isGone(pid) && performance.now() < end; pause = Math.min(pause * 2, 50)) await delay(pause);
}

function isGone(pid: number): boolean {
  try {
    return isZombie(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return true;
  }
}

async function settles(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(milliseconds, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    timer.abort();
  }
}

const living = new Set<Child>();
let isWatching = false;

/** Ends running commands when this process exits. */
function remember(child: Child): void {
  living.add(child);
  if (isWatching) return;
  isWatching = true;
  process.on("exit", () => {
    for (const one of living) one.signal("SIGKILL");
  });
}
