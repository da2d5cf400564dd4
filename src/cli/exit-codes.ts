import { CompileError, UntrustedProgram } from "../compile/compile-error.ts";
import type { DeniedCall } from "../protocol/approval.ts";
import { RunError, type RunErrorCode } from "../runtime/run-error.ts";
import { errorMessage } from "../util/text/error-message.ts";

/** The exit codes of the process; documented in docs/cli.md, the same in every mode. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  outputInvalid: 3,
  approvalNeeded: 4,
  denied: 5,
  limit: 6,
  provider: 7,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** A mistake on the command line; shown as it is. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** The reason of an abort that a signal asked for. */
export class Interrupted extends Error {
  readonly signal: "SIGINT" | "SIGTERM" | "SIGHUP";

  constructor(signal: "SIGINT" | "SIGTERM" | "SIGHUP") {
    super({ SIGINT: "interrupted", SIGTERM: "terminated", SIGHUP: "the terminal is gone" }[signal]);
    this.name = "Interrupted";
    this.signal = signal;
  }
}

/** Modules of the program are not loaded, and the time of the run is up. */
export class LoadTimeout extends Error {
  constructor(seconds: number) {
    super(`the limit of ${seconds} seconds is reached, and the program's code has not loaded`);
    this.name = "LoadTimeout";
  }
}

/** The reason of an abort where code of the program threw outside of any call: in a timer, or a listener. */
export class StrayFailure extends Error {
  constructor(cause: unknown) {
    super(`the program's code failed outside of any call: ${errorMessage(cause)}`, { cause });
    this.name = "StrayFailure";
  }
}

const ofRunErrors: Readonly<Record<RunErrorCode, number>> = {
  input_invalid: exitCodes.usage,
  configuration: exitCodes.usage,
  output_invalid: exitCodes.outputInvalid,
  loop: exitCodes.failed,
  denied: exitCodes.denied,
  refused: exitCodes.provider,
  provider: exitCodes.provider,
  authentication: exitCodes.provider,
  aborted: exitCodes.interrupted,
  journal: exitCodes.failed,
  changed: exitCodes.failed,
  uncertain: exitCodes.approvalNeeded,
  suspended: exitCodes.approvalNeeded,
  failed: exitCodes.failed,
};

/** Failures that follow from a call without approval: the missing approval is reported in their place. */
const followsDenial: ReadonlySet<RunErrorCode> = new Set(["denied", "failed", "loop", "output_invalid"]);

export function exitCodeOfFailure(thrown: unknown): number {
  if (thrown instanceof UsageError || thrown instanceof CompileError || thrown instanceof UntrustedProgram)
    return exitCodes.usage;
  if (thrown instanceof Interrupted) return exitCodeOfSignal(thrown.signal);
  if (thrown instanceof LoadTimeout) return exitCodes.limit;
  if (!(thrown instanceof RunError)) return exitCodes.failed;
  if (followsDenial.has(thrown.code) && needsApproval(thrown.run?.denied ?? [])) return exitCodes.approvalNeeded;
  if (thrown.cause instanceof Interrupted) return exitCodeOfSignal(thrown.cause.signal);
  if (thrown.cause instanceof StrayFailure) return exitCodes.failed;
  return ofRunErrors[thrown.code];
}

export function exitCodeOfSignal(signal: Interrupted["signal"]): number {
  const codes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated, SIGHUP: exitCodes.hungUp };
  return codes[signal];
}

export function exitCodeOfResult({
  stopReason,
  denied,
}: {
  readonly stopReason: "done" | "limit" | "cut";
  readonly denied: readonly DeniedCall[];
}): number {
  if (needsApproval(denied)) return exitCodes.approvalNeeded;
  return stopReason === "done" ? exitCodes.done : exitCodes.limit;
}

/** Returns true if a question could not be asked, or was not answered in time. */
export function needsApproval(denied: readonly DeniedCall[]): boolean {
  return denied.some(isUnanswered);
}

export function isUnanswered({ source }: DeniedCall): boolean {
  return source === "nobody" || source === "timeout";
}
