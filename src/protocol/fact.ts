import type { ApprovalDecision, DecisionSource, DeniedCall, Verdict } from "./approval.ts";
import type { CallKind, CallPath, StopReason } from "./call.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { FilePart } from "./message.ts";
import type { ToolError } from "./tool.ts";
import type { LimitName, Limits, Usage } from "./usage.ts";

/** What a run does to the world, or asks of it. Everything else that happens in a run is computed. */
export type EffectKind = "model" | "tool" | "question";

/**
 * The identity of an effect or a decision in its run: the same in every replay. `key` tells those of one kind and call apart:
 * `3.1` is the first attempt of the third turn's request, `2` the second question of a call whose arguments were edited.
 */
export interface FactKey {
  readonly callPath: CallPath;
  readonly key: string;
}

/** What a worker or code was called with. */
export interface CallInput {
  readonly input: JsonValue;
  /** With their content, which a journal keeps beside its lines. */
  readonly files: readonly FilePart[];
  /** Texts of the caller beside the input. */
  readonly fragments: readonly string[];
}

/**
 * `interrupted`: the run did not take it as a value, since it was on its way out. Another fact says why: an abort, a policy stop,
 * a limit above, the failure of a call beside it.
 */
export type Outcome =
  | { readonly type: "value"; readonly value: JsonValue }
  | { readonly type: "error"; readonly error: JsonObject; readonly usage?: Usage }
  | { readonly type: "interrupted"; readonly usage?: Usage };

/** A call that a person approved for the run, as it is listed for them. */
export interface RememberedCall {
  readonly worker: string;
  /** What the worker calls the toolset: another toolset's tool of the same name is another call. */
  readonly reference: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** `shown`: digests of the reasons and contents that it was approved with, and holds for. */
export interface ApprovalForRun extends RememberedCall {
  readonly shown: readonly string[];
}

/** The facts of a run. Nothing about a run is true that no fact says. Plain data; a journal holds one on each line. */
export type Fact =
  | {
      readonly type: "run-start";
      readonly runId: string;
      readonly program: string;
      readonly programDigest: string;
      readonly entry: string;
      readonly mode: string;
      readonly onDenied: "return" | "stop";
      readonly limits: Limits;
      readonly version: string;
      readonly input: CallInput;
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
      readonly input: CallInput;
    }
  | {
      readonly type: "call-end";
      readonly callPath: CallPath;
      readonly stopReason: StopReason;
      readonly reason?: string;
      readonly usage: Usage;
      readonly output?: JsonValue;
      readonly error?: JsonObject;
      /** Of a tool that calls others. */
      readonly result?: JsonObject;
    }
  /** What was found out about a call, and what the rules say of it. */
  | (FactKey & {
      readonly type: "verdict";
      readonly tool: string;
      readonly args: JsonObject;
      readonly facts: JsonObject;
      readonly digest: string;
      readonly verdict: Verdict;
      /** Only where it differs from what the tool itself says. */
      readonly sideEffect?: boolean;
      /** What a model is told beside a denial. */
      readonly hint?: string;
    })
  /** A call that could not be prepared, or was no longer what had been approved. */
  | (FactKey & { readonly type: "refusal"; readonly tool: string; readonly error: ToolError })
  /** How a question was settled. `denied` says what was needed, where it was denied. */
  | (FactKey & {
      readonly type: "decision";
      readonly tool: string;
      readonly decision: ApprovalDecision;
      readonly source: DecisionSource;
      /** Equal calls have equal ids, by which approvals and denials are remembered. Absent where the mode decided. */
      readonly memory?: string;
      /** Present where the approval is for the whole run. */
      readonly remembered?: ApprovalForRun;
      readonly denied?: DeniedCall;
    })
  /** A person took back what was approved for the run. */
  | {
      readonly type: "revocation";
      readonly callPath: CallPath;
      readonly worker: string;
      readonly tool: string;
      readonly memory: string;
    }
  /** Exactly the call of this key's verdict may execute. */
  | (FactKey & { readonly type: "grant"; readonly tool: string })
  /** Written ahead of an effect that may change the world, or costs money. */
  | (FactKey & {
      readonly type: "intent";
      readonly kind: EffectKind;
      readonly digest: string;
      readonly sideEffect: boolean;
      readonly detail: JsonObject;
    })
  /** `digest`: of an effect without an intent, which has it otherwise. */
  | (FactKey & { readonly type: "result"; readonly kind: EffectKind; readonly digest?: string; readonly outcome: Outcome })
  /** A request or a tool call that a limit did not allow, or a time that was up. `owner`: whose limit; absent for the run's own. */
  | (FactKey & {
      readonly type: "limit";
      readonly limit: LimitName;
      readonly allowed: number;
      readonly owner?: CallPath;
    })
  /** The name under which a file that a provider made is kept. */
  | (FactKey & { readonly type: "artifact"; readonly name: string; readonly sha256: string });

export type FactType = Fact["type"];
export type FactOf<Type extends FactType> = Extract<Fact, { readonly type: Type }>;
/** The types of facts that a key identifies. */
export type KeyedFactType = Extract<Fact, FactKey>["type"];

export type JournalEntry = { readonly v: 2; readonly n: number; readonly time: number } & Fact;
