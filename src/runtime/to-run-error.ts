import { PolicyStop } from "../approval/gate-types.ts";
import { JournalError } from "../journal/journal.ts";
import type { StopReason } from "../protocol/call.ts";
import { ToolFailure } from "../toolsets/toolset.ts";
import { errorMessage } from "../util/error-message.ts";
import { LimitReached, RunError, type RunErrorCode } from "./run-error.ts";

/** True for what ends more than the call that it was thrown in. */
export function endsRun(thrown: unknown): boolean {
  return (
    thrown instanceof RunError || thrown instanceof LimitReached || thrown instanceof JournalError || thrown instanceof PolicyStop
  );
}

/** Whatever ended a run, as its caller gets it. */
export function toRunError(thrown: unknown, signal: AbortSignal): RunError {
  if (thrown instanceof RunError) return thrown;
  if (signal.aborted)
    return new RunError("aborted", `the run was aborted: ${errorMessage(signal.reason)}`, { cause: signal.reason });
  return new RunError(codeOf(thrown), errorMessage(thrown), { cause: thrown });
}

function codeOf(thrown: unknown): RunErrorCode {
  if (thrown instanceof PolicyStop) return "denied";
  if (thrown instanceof JournalError) return "journal";
  return thrown instanceof ToolFailure && thrown.toolError.type === "output_invalid" ? "output_invalid" : "failed";
}

export function stopReasonOf({ code }: RunError): StopReason {
  return code === "denied" || code === "aborted" ? code : "failed";
}
