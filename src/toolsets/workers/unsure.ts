import type { InputOf, OutputOf } from "../callables.ts";
import type { WorkerRuntime } from "../worker-runtime.ts";

/** The mark is shared by all copies of llm-do that a program may load. */
const unsureMark = Symbol.for("llm-do.unsure");

/** The answer of code that leaves a call to the worker's prompt. */
export interface Unsure {
  readonly [unsureMark]: true;
  readonly reason: string;
  readonly hint?: string;
}

/**
 * Returned by the `code` of a worker: hands the call to the prompt. `reason` is recorded, for people. `hint` goes to the model beside the
 * prompt: what the code has found out already.
 */
export function unsure(reason: string, hint?: string): Unsure {
  return Object.freeze({
    [unsureMark]: true as const,
    reason: String(reason),
    ...(hint === undefined ? {} : { hint: String(hint) }),
  });
}

export function isUnsure(value: unknown): value is Unsure {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[unsureMark] === true;
}

/** A function that answers before the prompt of the worker of this name. Types come from `llm-do types`. */
export type Code<Name extends string = string> = (
  input: InputOf<Name>,
  runtime: WorkerRuntime,
) => OutputOf<Name> | Unsure | Promise<OutputOf<Name> | Unsure>;
