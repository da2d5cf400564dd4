import type { ReachedLimit } from "../effects/effects.ts";
import type { OpenQuestion } from "../protocol/approval.ts";
import type { CallPath } from "../protocol/call.ts";
import type { LimitName } from "../protocol/usage.ts";
import type { RunResult } from "./run-entry.ts";

export type RunErrorCode =
  /** The input does not fit the entry's schema. */
  | "input_invalid"
  /** The output does not fit its schema, or is empty, after the repair turn. */
  | "output_invalid"
  /** The model made the same call again and again, with the same result. */
  | "loop"
  /** A policy stopped the run: a person said stop, or `onDenied` is `stop`. */
  | "denied"
  /** The model refused to answer, or its provider withheld the answer. */
  | "refused"
  /** The provider failed, after the retries. */
  | "provider"
  | "authentication"
  | "aborted"
  | "configuration"
  | "journal"
  /** The program asks a model for something else than the recorded run did. */
  | "changed"
  /** A call may have had its effect when an earlier attempt of the run ended, and nobody said whether it is repeated. */
  | "uncertain"
  /** All that is left waits for answers: `questions` of the error's `run`. `resume` goes on with it. */
  | "suspended"
  /** Code of the program (a code entry) failed. */
  | "failed";

/** The one error that a caller of a run gets. `cause` is what happened underneath. */
export class RunError extends Error {
  readonly code: RunErrorCode;
  /** The call that it happened in. */
  readonly callPath: CallPath | undefined;
  /** Result of the run up to its failure; absent if it did not start. */
  declare run:
    | (Pick<RunResult, "runId" | "usage" | "denied" | "artifacts"> & {
        /** Those that wait for an answer. Empty if the run is not suspended. */
        readonly questions: readonly OpenQuestion[];
        /** Calls that come after one that waits for an answer, on the same target: they have not been looked at yet. */
        readonly behind: readonly CallPath[];
      })
    | undefined;

  /** The stacks of this error and of what caused it, without secrets; absent if the run did not start. */
  declare trace: string | undefined;

  constructor(code: RunErrorCode, message: string, more: { cause?: unknown; callPath?: CallPath } = {}) {
    super(message, { cause: more.cause });
    this.name = "RunError";
    this.code = code;
    this.callPath = more.callPath;
    // Node prints enumerable members of an error that nobody catches: the message would stand there four times.
    if (more.cause instanceof Error && more.cause.message === message) this.stack = callerStack(this);
    for (const name of ["run", "trace"] as const) Object.defineProperty(this, name, { value: undefined, writable: true });
  }
}

const ownFolder = new URL("..", import.meta.url).href;

/** Leaves out our own places: an error that says what its cause says would print the same stack twice. */
function callerStack({ name, message, stack = "" }: Error): string {
  const places = stack.split("\n").filter((line) => /^ +at /.test(line) && !line.includes(ownFolder));
  return [`${name}: ${message}`, ...places].join("\n");
}

/** A model request failed after its retries. It ends the call of its worker: where that was called, its caller goes on. */
export class RequestFailed extends RunError {
  constructor(message: string, more: { cause: unknown; callPath: CallPath }) {
    super("provider", message, more);
  }
}

/** The reason of the abort that ends what a run left under way. Made once: the stack of an error costs more than the rest of an end. */
export const runEnded = Object.freeze(new Error("the run has ended"));

/** `the limit of 10 tool calls`, `the limit of $0.5`. */
export function describeLimit({ limit, allowed }: { readonly limit: LimitName; readonly allowed: number }): string {
  return `the limit of ${limit === "usd" ? `$${allowed}` : `${allowed} ${limit.replaceAll("_", " ")}`}`;
}

/** Reads what `describeLimit` says, of a reason. Undefined if it names no limit. */
export function readLimit(reason: string): { readonly limit: LimitName; readonly allowed: number } | undefined {
  const [, dollars, number, words = ""] = /^the limit of (\$?)([\d.e+-]+) ?([a-z ]*?)(?: is reached)?$/.exec(reason) ?? [];
  if (number === undefined) return undefined;
  return { limit: dollars ? "usd" : (words.replaceAll(" ", "_") as LimitName), allowed: Number(number) };
}

/**
 * Unwinds what runs below a call that a limit ends: thrown where the limit is met, and the reason of the abort where time is up. The
 * caller of that call gets what there is so far.
 */
export class LimitReached extends Error {
  readonly reached: ReachedLimit;

  constructor(reached: ReachedLimit) {
    super(`${describeLimit(reached)} is reached`);
    this.name = "LimitReached";
    this.reached = reached;
  }
}
