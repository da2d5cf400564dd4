/**
 * The ids from the entry down to a call: `main/0.pitch_evaluator/2.read_file`. The number is the call's ordinal among
 * its parent's calls, in the order in which they were asked for, so that a path means the same call in every replay.
 */
export type CallPath = string;

/** Identifies a call, and says how many workers are above it; the entry is at 0. */
export interface CallAddress {
  readonly callPath: CallPath;
  readonly depth: number;
}

export function childCallPath(parent: CallPath, ordinal: number, name: string): CallPath {
  // A model can call anything by any name: a path stays one all the same.
  return `${parent}/${ordinal}.${name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64)}`;
}

/** The call of the code that answers a worker's call before its prompt. */
export function codeCallPath(worker: CallPath): CallPath {
  return `${worker}/code`;
}

/** The call in which the prompt of a worker answers what its code has answered, to be compared. */
export function checkCallPath(worker: CallPath): CallPath {
  return `${worker}/check`;
}

/** True for such a call, and for all below it. Names of other calls begin with a number. */
export function isInCheck(path: CallPath): boolean {
  return /\/check(\/|$)/.test(path);
}

export function isCodeOfWorker(path: CallPath): boolean {
  return path.endsWith("/code");
}

/** Returns undefined for the entry, which has no caller. */
export function parentCallPath(path: CallPath): CallPath | undefined {
  const end = path.lastIndexOf("/");
  return end < 0 ? undefined : path.slice(0, end);
}

/** A call, its caller, and so on up to the entry. */
export function* withCallers(callPath: CallPath): Iterable<CallPath> {
  for (let path: CallPath | undefined = callPath; path !== undefined; path = parentCallPath(path)) yield path;
}

export function isAtOrBelow(path: CallPath, above: CallPath): boolean {
  return path === above || path.startsWith(`${above}/`);
}

/** Callers before what they call, and calls of one caller by their numbers. */
export function comparePaths(one: CallPath, other: CallPath): number {
  const [a, b] = [one.split("/"), other.split("/")];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = Number.parseInt(a[index] ?? "", 10) - Number.parseInt(b[index] ?? "", 10);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  return a.length - b.length;
}

export type CallKind = "worker" | "tool" | "code";

/** Why a call or a run ended. */
export type StopReason = "done" | "limit" | "cut" | "denied" | "aborted" | "failed" | "suspended";

/**
 * How a list of runs says that one ended: why it stopped, or `unfinished`: killed, or still running; `waits`, `cancelled`: submitted, and
 * executed by nobody; `empty`: nothing is recorded; `unreadable`: its journal is damaged; `old`: recorded in version 1.
 */
export type RunOutcome = StopReason | "unfinished" | "waits" | "cancelled" | "empty" | "unreadable" | "old";

const outcomes: Readonly<Record<RunOutcome, true>> = {
  ...{ done: true, limit: true, cut: true, denied: true, aborted: true, failed: true, suspended: true },
  ...{ unfinished: true, waits: true, cancelled: true, empty: true, unreadable: true, old: true },
};

export const runOutcomes = Object.keys(outcomes) as readonly RunOutcome[];
