import type { WorkerRuntime } from "./toolset.ts";

/** The runtime of one execution, with a signal of its own. */
export interface TimedRuntime {
  readonly runtime: WorkerRuntime;
  /** Resolves when the calls that the code has made so far have ended. */
  readonly settled: () => Promise<unknown>;
}

type WithSignal = (signal: AbortSignal) => TimedRuntime;

/** Kept apart from the runtimes that tools see: code cannot make calls that outlive it. */
const ofRuns = new WeakMap<WorkerRuntime, WithSignal>();

export function allowTimeout(runtime: WorkerRuntime, withSignal: WithSignal): void {
  ofRuns.set(runtime, withSignal);
}

/** The same runtime for an execution that `signal` ends, and with it the calls that it makes. */
export function withSignal(runtime: WorkerRuntime, signal: AbortSignal): TimedRuntime {
  const make = ofRuns.get(runtime);
  return make ? make(signal) : { runtime: Object.freeze({ ...runtime, signal }), settled: async () => undefined };
}
