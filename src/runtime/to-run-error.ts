import { PolicyStop, UncertainCall } from "../approval/gate-types.ts";
import { Suspended } from "../effects/activity.ts";
import { describeChange } from "../effects/describe-change.ts";
import { againKey } from "../effects/keys.ts";
import { RequestChanged } from "../effects/policies/request-changed.ts";
import { JournalError } from "../journal/journal.ts";
import type { StopReason } from "../protocol/call.ts";
import { ToolFailure } from "../toolsets/toolset.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { LimitReached, RunError, type RunErrorCode } from "./run-error.ts";

/** True for what ends more than the call that it was thrown in. */
export function endsRun(thrown: unknown): boolean {
  // A RunError with a `run` is another run's, which code of this one started and lost.
  if (thrown instanceof RunError) return thrown.run === undefined;
  if (thrown instanceof RequestChanged || thrown instanceof UncertainCall) return true;
  return thrown instanceof LimitReached || thrown instanceof JournalError || thrown instanceof PolicyStop;
}

/** Whatever ended a run, as its caller gets it. */
export function toRunError(thrown: unknown, signal: AbortSignal): RunError {
  if (signal.reason instanceof PolicyStop) return new RunError("denied", signal.reason.message, { cause: signal.reason });
  if (thrown instanceof JournalError) return new RunError("journal", thrown.message, { cause: thrown });
  if (signal.reason instanceof Suspended) return describeSuspension(signal.reason);
  if (thrown instanceof RunError) return thrown;
  if (thrown instanceof RequestChanged)
    return new RunError("changed", `${describeChange(thrown)}; ${afterChange}`, {
      cause: thrown,
      callPath: thrown.today.callPath,
    });
  if (thrown instanceof UncertainCall)
    return new RunError("uncertain", thrown.message, { cause: thrown, callPath: thrown.callPath });
  if (signal.aborted)
    return new RunError("aborted", `the run was aborted: ${errorMessage(signal.reason)}`, { cause: signal.reason });
  return new RunError(codeOf(thrown), errorMessage(thrown), { cause: thrown });
}

const afterChange =
  "undo the change and resume again, or go on from here as a new run with `--from-here` (in code: `fromHere: true`)";

/** A run in which only calls that may have run wait is not one that was asked to hold its questions. */
function describeSuspension(reason: Suspended): RunError {
  const { questions } = reason;
  const uncertain = questions.filter(({ key }) => key.endsWith(againKey("")));
  const lines = uncertain.map(
    ({ callPath, request: { description } }) =>
      `\`${description}\` (${callPath}) may have run already, and nobody can be asked whether to run it again`,
  );
  if (uncertain.length === questions.length && lines.length > 0)
    return new RunError("uncertain", lines.join("\n"), {
      cause: reason,
      ...(questions[0] ? { callPath: questions[0].callPath } : {}),
    });
  const waiting = `${questions.length} ${questions.length === 1 ? "call waits" : "calls wait"} for an answer${describeChanged(questions)}`;
  return new RunError("suspended", [`the run is suspended: ${waiting}`, ...lines].join("\n"), { cause: reason });
}

/** Says why a call that was answered waits once more. Empty if none does. */
function describeChanged(questions: Suspended["questions"]): string {
  const changed = questions.filter(({ isChanged }) => isChanged).length;
  if (changed === 0) return "";
  const who =
    changed === questions.length
      ? changed === 1
        ? "it was"
        : "they were"
      : `${changed} of them ${changed === 1 ? "was" : "were"}`;
  return `; ${who} answered, and what ${changed === 1 ? "it" : "they"} would change has changed since`;
}

function codeOf(thrown: unknown): RunErrorCode {
  if (thrown instanceof PolicyStop) return "denied";
  const type = thrown instanceof ToolFailure ? thrown.toolError.type : undefined;
  if (type === "invalid_arguments") return "input_invalid";
  return type === "output_invalid" || type === "refused" || type === "provider" || type === "loop" ? type : "failed";
}

export function stopReasonOf({ code, cause }: RunError): StopReason {
  if (cause instanceof Suspended) return "suspended";
  return code === "denied" || code === "aborted" ? code : "failed";
}
