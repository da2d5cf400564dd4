import { timeKey } from "../effects/keys.ts";
import { type TimedRuntime, withSignal } from "../toolsets/timed-runtime.ts";
import { type Tool, toolFailure, type WorkerRuntime } from "../toolsets/toolset.ts";
import type { GateRun } from "./gate-types.ts";

/** One execution of a tool. */
export interface TimedExecution extends TimedRuntime {
  /** Stops the timer; called on every way out. */
  readonly stop: () => void;
}

/**
 * Starts the time of a tool with `timeoutSeconds`; undefined without. The signal's reason is the `ToolFailure` that the call ends with. Of a leaf, that is the
 * outcome of its effect. The time of a tool with `calls` is a fact of its own, so that a replay ends its calls at the same point. The time in
 * which all that the tool does is to wait for a person does not count.
 */
export function startTimeout(run: GateRun, tool: Tool, runtime: WorkerRuntime): TimedExecution | undefined {
  const { name, timeoutSeconds: seconds, calls } = tool;
  if (seconds === undefined) return undefined;
  const limit = { callPath: runtime.callPath, key: timeKey };
  const { callPath } = limit;
  const late = new AbortController();
  let isOver = false;
  const expire = () => {
    if (isOver) return;
    isOver = true;
    if (calls) run.effects.record({ type: "limit", ...limit, limit: "seconds", allowed: seconds, owner: callPath });
    const error = `\`${name}\` took longer than ${seconds} ${seconds === 1 ? "second" : "seconds"}`;
    late.abort(toolFailure("timeout", error, "it may have had an effect all the same; ask for less at once"));
  };
  if (calls) run.timeUp?.set(callPath, expire);
  const timer = run.effects.startTimer(seconds * 1000, expire, calls && limit);
  const stopListening = run.activity.onChange(() => {
    if (run.activity.isWaitingForPerson(callPath)) timer.pause();
    else timer.go();
  });
  const stop = () => {
    isOver = true;
    stopListening();
    run.timeUp?.delete(callPath);
    timer.stop();
  };
  return { ...withSignal(runtime, AbortSignal.any([runtime.signal, late.signal])), stop };
}
