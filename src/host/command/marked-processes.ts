import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { entriesOf } from "./look.ts";

/** The variable by which a command's processes are found, wherever they went; a random value for each command. */
export const markerName = "LLM_DO_COMMAND";

/** In milliseconds. A process that is stuck in the kernel is not waited for any longer. */
const longestPause = 2048;

/** In milliseconds. Longer than a process has no environment while it begins to execute a program. */
const longestDoubt = 32;

/** After more numbers than these, the processes that live are looked at in their place. Fewer than any system has. */
const mostNumbers = 1000;

/** How far the system has come in giving numbers to processes and threads. */
export interface ProcessCount {
  /** The number that was given last. */
  readonly last: number;
  /** How many were given since the system started. */
  readonly given: number;
}

/** To be called before a command starts. Undefined if the system does not say. */
export function countProcesses(): ProcessCount | undefined {
  const last = /^\d+/.exec(read("/proc/sys/kernel/ns_last_pid") ?? "")?.[0];
  const given = /^processes (\d+)$/m.exec(read("/proc/stat") ?? "")?.[1];
  return last === undefined || given === undefined ? undefined : { last: Number(last), given: Number(given) };
}

/**
 * Ends the processes that have the marker in their environment: daemons that left their process group. Linux alone. A
 * process that also emptied its environment is not found: that takes the wall. `before`: the count before the command started.
 */
export async function endMarked(marker: string, before: ProcessCount | undefined): Promise<void> {
  if (process.platform !== "linux") return;
  // One that starts others while we look is met again, as is one that has not come to its end yet.
  for (let pause = 1; pause < longestPause; pause *= 2) {
    const { marked, isInDoubt } = findMarked(marker, before);
    if (marked.length === 0 && !(isInDoubt && pause < longestDoubt)) return;
    for (const pid of marked) kill(pid);
    await delay(pause);
  }
}

/** Reads synchronously: a file of `/proc` takes ten microseconds so, and five times that through the thread pool. */
function findMarked(marker: string, before: ProcessCount | undefined) {
  const entry = `${markerName}=${marker}`;
  const younger = numbersSince(before);
  const marked: number[] = [];
  let isInDoubt = false;
  for (const pid of younger ?? numbersOfAll()) {
    if (pid === process.pid) continue;
    const environment = read(`/proc/${pid}/environ`);
    if (environment?.includes(entry)) marked.push(pid);
    else if (environment === "" && younger !== undefined) isInDoubt ||= hasMemory(pid);
  }
  return { marked, isInDoubt };
}

/**
 * The numbers given since then, which can be those of threads or of nothing. Undefined if they began anew, if they are many, or
 * if the count stands still though a process was started.
 */
function numbersSince(before: ProcessCount | undefined): readonly number[] | undefined {
  const now = before && countProcesses();
  if (now === undefined || before === undefined) return undefined;
  const [length, given] = [now.last - before.last, now.given - before.given];
  if (![length, given].every((count) => count > 0 && count <= mostNumbers)) return undefined;
  return Array.from({ length }, (_, index) => before.last + 1 + index);
}

function numbersOfAll(): readonly number[] {
  return entriesOf("/proc")
    .map(({ name }) => Number(name))
    .filter((pid) => pid > 0);
}

/** False for threads of the kernel, and for processes that have ended and were not reaped. */
function hasMemory(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`) ?? "";
  // The name in brackets can hold blanks. The size is the 23rd field of all, the 21st behind it.
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[20]) > 0;
}

/** Undefined if it is another user's, or gone. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone.
  }
}
