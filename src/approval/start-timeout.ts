import { type Tool, toolFailure, type WorkerRuntime } from "../toolsets/toolset.ts";
import type { GateRun } from "./gate-types.ts";

/** The runtime of one execution, whose signal also aborts when the tool's time is up. */
export interface TimedRuntime {
  readonly runtime: WorkerRuntime;
  /** Stops the timer; called on every way out. */
  readonly stop: () => void;
}

/**
 * Starts the time of a tool with `timeoutSeconds`. The reason of the abort is the `ToolFailure` that the call ends with: the outcome of the
 * effect, so that a replay needs no time.
 */
export function startTimeout(run: GateRun, { name, timeoutSeconds: seconds }: Tool, runtime: WorkerRuntime): TimedRuntime {
  if (seconds === undefined) return { runtime, stop: () => undefined };
  const late = new AbortController();
  const done = new AbortController();
  const error = `\`${name}\` took longer than ${seconds} ${seconds === 1 ? "second" : "seconds"}`;
  run.effects.sleep(seconds * 1000, done.signal).then(
    () => late.abort(toolFailure("timeout", error, "it may have had an effect all the same; ask for less at once")),
    () => undefined,
  );
  const signal = AbortSignal.any([runtime.signal, late.signal]);
  return { runtime: Object.freeze({ ...runtime, signal }), stop: () => done.abort() };
}
