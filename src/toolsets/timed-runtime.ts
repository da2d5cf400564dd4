import type { AskUser } from "./foreign-question.ts";
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

interface Hidden {
  /** Made on need. Undefined outside of a run. */
  readonly access: (() => RunAccess) | undefined;
  /** Asks the user during the call. For built-in toolsets, which say who asks. */
  ask: AskUser | undefined;
}

/** Kept apart from the runtimes that tools see: code cannot make calls that pass no gate, or that outlive it. One entry for each call. */
const hidden = new WeakMap<WorkerRuntime, Hidden>();

export function allowAccess(runtime: WorkerRuntime, access: () => RunAccess): void {
  hidden.set(runtime, { access, ask: undefined });
}

/** Undefined outside of a run. */
export function accessOf(runtime: WorkerRuntime): RunAccess | undefined {
  return hidden.get(runtime)?.access?.();
}

export function allowQuestions(runtime: WorkerRuntime, ask: AskUser): void {
  const own = hidden.get(runtime);
  if (own) own.ask = ask;
  else hidden.set(runtime, { access: undefined, ask });
}

export function askerOf(runtime: WorkerRuntime): AskUser | undefined {
  return hidden.get(runtime)?.ask;
}

/** The same runtime for an execution that `signal` ends, and with it the calls that it makes. */
export function withSignal(runtime: WorkerRuntime, signal: AbortSignal): TimedRuntime {
  const made = accessOf(runtime)?.withSignal(signal);
  return made ?? { runtime: Object.freeze({ ...runtime, signal }), settled: async () => undefined };
}
