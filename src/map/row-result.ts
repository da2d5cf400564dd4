import { createRunState } from "../effects/run-state.ts";
import type { RunOutput } from "../front/llm-do.ts";
import type { Fact } from "../protocol/fact.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { Usage } from "../protocol/usage.ts";
import { AccountUsedUp } from "../runtime/bounds/request-pace.ts";
import { RunError } from "../runtime/run-error.ts";

/** The result of one row. */
export interface MappedRow {
  /** From 1. */
  readonly row: number;
  /** Null where no run began. */
  readonly runId: string | null;
  /**
   * `done`, and `limit` or `cut`, with what there was so far. A later start tries the others again: `suspended` waits for answers; for
   * `uncertain` somebody has to say whether a call is repeated; `account`: the dollars for all rows were used up; `invalid`: the row is no input.
   */
  readonly stopReason: "done" | "limit" | "cut" | "suspended" | "uncertain" | "account" | "failed" | "invalid";
  readonly output: JsonValue;
  /** Says which limit, or how to raise it. */
  readonly reason?: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** The sum over all attempts. Null where no run began. */
  readonly usage: Usage | null;
}

export type RowEnd = Omit<MappedRow, "row">;

export function toRowEnd({ runId, output, stopReason, usage, reason }: RunOutput): RowEnd {
  return { runId, stopReason, output, ...(reason === undefined ? {} : { reason }), usage };
}

/** Throws what is no failure of the row alone. */
export function toFailedRow(thrown: unknown, runId: string | null): RowEnd {
  if (!(thrown instanceof RunError)) throw thrown;
  const { code, message, run, cause } = thrown;
  if (cause instanceof AccountUsedUp)
    return { runId: run?.runId ?? runId, stopReason: "account", output: null, reason: cause.message, usage: run?.usage ?? null };
  if (stopsAll.has(code)) throw thrown;
  const stopReason = code === "suspended" || code === "uncertain" ? code : code === "input_invalid" ? "invalid" : "failed";
  return { runId: run?.runId ?? runId, stopReason, output: null, error: { code, message }, usage: run?.usage ?? null };
}

/** Other rows would meet the same. */
const stopsAll: ReadonlySet<string> = new Set(["configuration", "authentication", "journal", "aborted"]);

/** Returns how a recorded run ended, where it need not go on. */
export function recordedEnd(runId: string, facts: readonly Fact[]): RowEnd | undefined {
  const end = facts.findLast(({ type }) => type === "run-end" || type === "attempt");
  if (end?.type !== "run-end" || !["done", "limit", "cut"].includes(end.stopReason)) return undefined;
  const { stopReason, output = null, reason, usage } = end;
  return toRowEnd({
    runId,
    output,
    stopReason: stopReason as "done",
    usage,
    ...(reason === undefined ? {} : { reason }),
  } as RunOutput);
}

/** The dollars of a recorded run, whether it ended or not. */
export function spentIn(facts: readonly Fact[]): number {
  const state = createRunState();
  for (const fact of facts) state.apply(fact);
  const [start] = facts;
  const { usd = 0, unknownUsd = 0 } = start?.type === "run-start" ? state.usageOf(start.entry) : {};
  return usd + unknownUsd;
}
