import type { AskUser } from "./foreign-question.ts";
import type { WorkerRuntime } from "./toolset.ts";
import type { RunWorkers } from "./workers/worker-toolset.ts";

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
  /** The tokens and dollars that the run and the call have left. Of what is unlimited, nothing is there. */
  readonly left: () => { readonly tokens?: number; readonly usd?: number };
  /** Notes that code computes, and does not only wait for its calls. Returns what ends that, to be called once. */
  readonly beginWork: () => () => void;
}

class Given {
  constructor(given: object) {
    // biome-ignore lint/correctness/noConstructorReturn: a class that extends this one adds its fields to what is returned
    return given;
  }
}

/**
 * Fields of a runtime that nobody else sees: code cannot make calls that pass no gate, or that outlive it. An entry in a `WeakMap` for each
 * call takes ten times as long.
 */
class Hidden extends Given {
  readonly #access: (() => RunAccess) | undefined;
  #ask: AskUser | undefined;

  constructor(runtime: WorkerRuntime, access: (() => RunAccess) | undefined) {
    super(runtime);
    this.#access = access;
  }

  static accessOf(runtime: object): RunAccess | undefined {
    return #access in runtime ? runtime.#access?.() : undefined;
  }

  static askerOf(runtime: object): AskUser | undefined {
    return #ask in runtime ? runtime.#ask : undefined;
  }

  static allow(runtime: object, ask: AskUser): void {
    if (#ask in runtime) runtime.#ask = ask;
  }
}

/** Freezes a runtime for code. `access`: made on need; default: it is outside of a run. */
export function sealRuntime(runtime: WorkerRuntime, access?: () => RunAccess): WorkerRuntime {
  new Hidden(runtime, access);
  return Object.freeze(runtime);
}

/** Undefined outside of a run. */
export const accessOf: (runtime: WorkerRuntime) => RunAccess | undefined = Hidden.accessOf;

/** Lets a built-in toolset, which says who asks, ask the user during a call with this runtime. */
export const allowQuestions: (runtime: WorkerRuntime, ask: AskUser) => void = Hidden.allow;

/** Undefined if nobody can be asked. */
export const askerOf: (runtime: WorkerRuntime) => AskUser | undefined = Hidden.askerOf;

/** The same runtime for an execution that `signal` ends, and with it the calls that it makes. */
export function withSignal(runtime: WorkerRuntime, signal: AbortSignal): TimedRuntime {
  const made = accessOf(runtime)?.withSignal(signal);
  return made ?? { runtime: sealRuntime({ ...runtime, signal }), settled: async () => undefined };
}
