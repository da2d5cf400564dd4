import type { ApprovalDecision, DecisionSource, Verdict } from "./approval.ts";
import type { CallKind, CallPath, StopReason } from "./call.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Usage } from "./usage.ts";

export type StepKind = "model" | "tool" | "worker" | "question";

/** The facts of a run. Each line of `journal.jsonl` is one entry with `v`, `n` (its number from 0) and `time`. */
export type JournalFact =
  | {
      readonly type: "run-start";
      readonly runId: string;
      readonly program: string;
      readonly programDigest: string;
      readonly entry: string;
      readonly mode: string;
      readonly version: string;
      readonly input: JsonValue;
    }
  | {
      readonly type: "run-end";
      readonly stopReason: StopReason;
      readonly reason?: string;
      readonly usage: Usage;
      readonly output?: JsonValue;
      readonly error?: JsonObject;
      readonly denied: number;
    }
  | {
      readonly type: "call-start";
      readonly callPath: CallPath;
      readonly kind: CallKind;
      readonly name: string;
      readonly depth: number;
      readonly model?: string;
      readonly modelSource?: string;
      readonly input: JsonValue;
    }
  | {
      readonly type: "call-end";
      readonly callPath: CallPath;
      readonly stopReason: StopReason;
      readonly reason?: string;
      readonly usage: Usage;
      readonly output?: JsonValue;
      readonly error?: JsonObject;
    }
  | {
      readonly type: "verdict";
      readonly callPath: CallPath;
      readonly tool: string;
      readonly args: JsonValue;
      readonly digest: string;
      readonly verdict: Verdict;
    }
  | {
      readonly type: "decision";
      readonly callPath: CallPath;
      readonly tool: string;
      readonly decision: ApprovalDecision;
      readonly source: DecisionSource;
    }
  /** At the question of a call, a person took back what was approved for the run: of this worker, tool and arguments. */
  | {
      readonly type: "revocation";
      readonly callPath: CallPath;
      readonly worker: string;
      readonly tool: string;
      readonly args: JsonValue;
    }
  | { readonly type: "grant"; readonly callPath: CallPath; readonly tool: string; readonly digest: string }
  | {
      readonly type: "intent";
      readonly callPath: CallPath;
      readonly step: number;
      readonly kind: StepKind;
      readonly detail: JsonObject;
      readonly sideEffect: boolean;
    }
  | {
      readonly type: "result";
      readonly callPath: CallPath;
      readonly step: number;
      readonly kind: StepKind;
      readonly ok: boolean;
      readonly detail: JsonObject;
    };

export type JournalEntry = { readonly v: 1; readonly n: number; readonly time: number } & JournalFact;

/**
 * One side effect of the loop: a model request, a tool's execution, a child call, a question. `detail` is written
 * before it happens, `describe(result)` after.
 */
export interface Step<T> {
  readonly callPath: CallPath;
  readonly kind: StepKind;
  readonly detail: JsonObject;
  /** True where the world may change: the journal is then on disk before `fn` starts. */
  readonly sideEffect: boolean;
  describe(result: T): JsonObject;
  /** What is recorded of a failure beside its message. */
  describeFailure?(): JsonObject;
}

/** The one seam that every side effect passes. A durable engine can stand behind it. */
export type StepSeam = <T>(step: Step<T>, fn: () => Promise<T>) => Promise<T>;
