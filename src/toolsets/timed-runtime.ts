import type { WorkerRuntime } from "./toolset.ts";
import type { RunWorkers } from "./worker-toolset.ts";

/** The runtime of one execution, with a signal of its own. */
export interface TimedRuntime {
  readonly runtime: WorkerRuntime;
  /** Resolves when the calls that the code has made so far have ended. */
  readonly settled: () => Promise<unknown>;
}

/** Abilities of a run's runtime that tools do not see. */
export interface RunAccess {
  readonly workers: RunWorkers;
  readonly withSignal: (signal: AbortSignal) => TimedRuntime;
}

/** Kept apart from the runtimes that tools see: code cannot make calls that pass no gate, or that outlive it. Made on need. */
const ofRuns = new WeakMap<WorkerRuntime, () => RunAccess>();

export function allowAccess(runtime: WorkerRuntime, access: () => RunAccess): void {
  ofRuns.set(runtime, access);
}

/** Undefined outside of a run. */
export function accessOf(runtime: WorkerRuntime): RunAccess | undefined {
  return ofRuns.get(runtime)?.();
}

/** The same runtime for an execution that `signal` ends, and with it the calls that it makes. */
export function withSignal(runtime: WorkerRuntime, signal: AbortSignal): TimedRuntime {
  const made = accessOf(runtime)?.withSignal(signal);
  return made ?? { runtime: Object.freeze({ ...runtime, signal }), settled: async () => undefined };
}
