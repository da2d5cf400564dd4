import type { ApprovalDecision, ApprovalRule, DecisionSource, DeniedCall, Verdict } from "./approval.ts";
import type { CallKind, CallPath, StopReason } from "./call.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { FilePart, Message } from "./message.ts";
import type { ToolError } from "./tool.ts";
import type { LimitName, Limits, Usage } from "./usage.ts";

/**
 * The kinds of effects: a run touches the world by these alone. Everything else in a run is
 * computed, but for code that makes calls: what it does besides is its own.
 */
export type EffectKind = "model" | "tool" | "question" | "connect" | "step";

/**
 * The identity of an effect or a decision in its run: the same in every replay. `key` tells those of one call apart:
 * `effects/keys.ts` makes them.
 */
export interface FactKey {
  readonly callPath: CallPath;
  readonly key: string;
}

/** The input of a call of a worker or of code. */
export interface CallInput {
  readonly input: JsonValue;
  /** With their content. A journal keeps the content in blobs. */
  readonly files: readonly FilePart[];
  /** Texts that the caller adds to the input. */
  readonly fragments: readonly string[];
}

/**
 * `interrupted`: the effect ended while the run or the call unwound, so its outcome was not used. Another fact has the cause: an
 * abort, a policy stop, a limit of a caller, a failed call of the same turn.
 */
export type Outcome =
  | { readonly type: "value"; readonly value: JsonValue }
  | { readonly type: "error"; readonly error: JsonObject; readonly usage?: Usage }
  /** `partial`: what the effect had produced, where it reports that. */
  | { readonly type: "interrupted"; readonly usage?: Usage; readonly partial?: JsonValue };

/** A call that a person approved for the run, as it is listed. */
export interface RememberedCall {
  readonly worker: string;
  /** The worker's name for the toolset. Tools of one name in two toolsets are different calls. */
  readonly reference: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** `shown`: digests of the reasons and contents that were shown. The approval covers these alone. */
export interface ApprovalForRun extends RememberedCall {
  readonly shown: readonly string[];
}

/** A rule that a person allowed for the run. `worker` and `tool` are those of the call that it was given for. */
export interface RuleForRun {
  /** The id of equal rules. */
  readonly memory: string;
  readonly worker: string;
  readonly tool: string;
  /** In the grammar of `--approve`. */
  readonly rule: string;
}

/** A tool result that was taken out of a conversation. */
export interface DroppedResult {
  /** Its place: the message in the conversation, and the part of that. From 0. */
  readonly message: number;
  readonly part: number;
  /** The answer that it was asked for in, from 1; 0 for one of an earlier run. */
  readonly turn: number;
  readonly tool: string;
  readonly tokens: number;
}

/** A price that a run was given, in dollars for a million tokens. `model` can be a pattern; of several that fit, the last one holds. */
export interface GivenPrice {
  readonly model: string;
  readonly input: number;
  readonly output: number;
  /** Price of input that the provider had in its cache. Default: as `input`. */
  readonly cachedInput?: number;
}

/** The options that a program was compiled with. A folder that was given for a scope is none of them: it belongs to a machine. */
export interface CompiledWith {
  /** Relative to the program's folder. */
  readonly target: string;
  /** In the place of the target; relative, too. */
  readonly files?: readonly string[];
  /** Names of the workers that are made in code, and have no file. */
  readonly workers?: readonly string[];
  /** Only of code. */
  readonly entry?: string;
  readonly model?: string;
  readonly set?: readonly string[];
  readonly modelFor?: readonly string[];
  /** False: no prompt is asked, too, about what code answered. */
  readonly checks?: boolean;
}

/** Options over the files of a program that somebody else than the user gives: a record, or a test file. */
export type ProgramOptions = Pick<CompiledWith, "model" | "set" | "modelFor" | "checks">;

/** The word of a toolset on a call. `own`: its verdict; `texts`: those that rules are compared with, by argument. */
export interface SaidOfCall {
  readonly own?: JsonObject;
  readonly texts?: JsonObject;
}

/** The terms that a run begins with, or goes on with. */
interface RunTerms {
  readonly programDigest: string;
  readonly mode: string;
  readonly onDenied: "return" | "stop";
  readonly onUnanswered?: "hold";
  readonly limits: Limits;
  /** Default: none. */
  readonly prices?: readonly GivenPrice[];
  /** The rules that were given, beside those of the manifest. Default: none. */
  readonly rules?: readonly ApprovalRule[];
  /** The version of llm-do. */
  readonly version: string;
}

/** How a run or a call ended. */
interface RecordedEnd {
  readonly stopReason: StopReason;
  readonly reason?: string;
  readonly usage: Usage;
  readonly output?: JsonValue;
  /** `failure`, of a call: the `ToolError` that its caller got. A call without it unwound what is above. */
  readonly error?: JsonObject;
}

/** The facts of a run: plain data, one on each line of a journal. Nothing else is known of a run. `journal/fact-fields.ts` has their fields. */
export type Fact =
  | (RunTerms & {
      readonly type: "run-start";
      readonly runId: string;
      readonly program: string;
      readonly entry: string;
      /** The start of the entry passed the gate. */
      readonly gateEntry?: true;
      readonly input: CallInput;
      /** The conversation that the entry goes on with. The request's facts leave it out. */
      readonly history?: readonly Message[];
      /** The process that executes the run (`Host.processes`). */
      readonly owner?: string;
      /** Digests of the program's files, by their path in it. */
      readonly files?: Readonly<Record<string, string>>;
      /** The run that this one is a fork of, by its id. */
      readonly forkOf?: string;
      /** How the program was compiled, to compile it so again. */
      readonly compiled?: CompiledWith;
    })
  /**
   * A run goes on. `voids` are the numbers of the entries that no longer answer anything; their usage still counts. The other
   * members replace those of the start.
   */
  | (RunTerms & {
      readonly type: "attempt";
      /** The first continuation is 2. */
      readonly number: number;
      readonly voids: readonly number[];
      readonly owner: string;
    })
  | (RecordedEnd & { readonly type: "run-end"; readonly denied: number })
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
  | (RecordedEnd & {
      readonly type: "call-end";
      readonly callPath: CallPath;
      /** Present for a tool that calls others. */
      readonly result?: JsonObject;
    })
  /** The preparation of a call, and the verdict of the rules on it. */
  | (FactKey & {
      readonly type: "verdict";
      readonly tool: string;
      readonly args: JsonObject;
      readonly facts: JsonObject;
      readonly digest: string;
      /** The toolset's findings about the call, for a later judgement. Present if it looks at its calls. */
      readonly said?: SaidOfCall;
      /** Digest of the call with all that its question shows. Present if the verdict is ask. */
      readonly asked?: string;
      readonly verdict: Verdict;
      /** Present if it differs from the tool's own. */
      readonly sideEffect?: boolean;
      /** Shows whether the call had its effect, to the `reconcile` of its tool. */
      readonly recorded?: JsonObject;
      /** Returned to the model with a denial. */
      readonly hint?: string;
    })
  /** A call that could not be prepared, or that changed after its approval. */
  | (FactKey & { readonly type: "refusal"; readonly tool: string; readonly error: ToolError })
  /** The answer to a question. `denied` describes a call that was denied. */
  | (FactKey & {
      readonly type: "decision";
      readonly tool: string;
      readonly decision: ApprovalDecision;
      readonly source: DecisionSource;
      /** The id of equal calls: approvals and denials are remembered by it. Absent if the mode decided. */
      readonly memory?: string;
      /** Present if the approval is for the whole run. */
      readonly remembered?: ApprovalForRun;
      /** Present if a rule was allowed for the whole run. */
      readonly allowed?: RuleForRun;
      readonly denied?: DeniedCall;
      /** The run stopped for it, in the same moment. */
      readonly stops?: true;
    })
  /** A person revoked an approval, or a rule, for the run. */
  | {
      readonly type: "revocation";
      readonly callPath: CallPath;
      readonly worker: string;
      readonly tool: string;
      readonly memory: string;
    }
  /** Lets a call execute after its question: it is still what was approved. One whose verdict is `allowed` executes without. */
  | (FactKey & { readonly type: "grant"; readonly tool: string })
  /** Recorded before an effect that may change the world or costs money. */
  | (FactKey & {
      readonly type: "intent";
      readonly kind: EffectKind;
      readonly digest: string;
      readonly sideEffect: boolean;
      readonly detail: JsonObject;
    })
  /** `digest`: present if the effect has no intent. `shared`: of the run that this one is a fork of, which paid for it. */
  | (FactKey & {
      readonly type: "result";
      readonly kind: EffectKind;
      readonly digest?: string;
      readonly outcome: Outcome;
      readonly shared?: boolean;
    })
  /**
   * The answer of a person to a question of a suspended run, for when it goes on. It holds for the question with this digest, and only
   * where that shows what was `shown`: a digest of it.
   */
  | (FactKey & {
      readonly type: "answer";
      readonly digest: string;
      readonly shown?: string;
      readonly decision: ApprovalDecision;
    })
  /** A call of this one failed, and what ran beside it was aborted. */
  | { readonly type: "abort"; readonly callPath: CallPath }
  /** A request or a tool call that a limit did not allow, or a time limit that was reached. `owner`: the call with the limit; absent for the run. */
  | (FactKey & {
      readonly type: "limit";
      readonly limit: LimitName;
      readonly allowed: number;
      readonly owner?: CallPath;
    })
  /** Code called `path`. The key is made of what it called, so that parallel chains may swap their order in a replay. */
  | (FactKey & { readonly type: "code-call"; readonly path: CallPath })
  /** A result that was too long for the model. `shown` is what it got; `characters` (UTF-16 units), how long the whole is. */
  | (FactKey & {
      readonly type: "cut";
      readonly tool: string;
      /** The model's name for the result, in `read_result`. */
      readonly id: string;
      readonly characters: number;
      readonly shown: string;
    })
  /** Results that were taken out of a conversation, before the request of `key`, to keep it within the model's window. In tokens. */
  | (FactKey & {
      readonly type: "compaction";
      readonly window: number;
      readonly before: number;
      readonly after: number;
      readonly dropped: readonly DroppedResult[];
    })
  /**
   * The run created a worker. While the run goes on, it is this one, and its program is the one without it: the file that the tool wrote is
   * for later runs. `id` is that of its definition in the program; `digest`, of `text`, the whole file; `capability`: all that it may do.
   */
  | (FactKey & {
      readonly type: "worker";
      readonly name: string;
      readonly id: string;
      /** Relative to the program's folder, with `/`. */
      readonly file: string;
      readonly digest: string;
      readonly text: string;
      readonly capability: JsonObject;
    })
  /**
   * The prompt of a worker answered what its code had answered, and the two were compared. `callPath` is the worker's call. `agrees` is absent
   * if nothing of the output can be compared. `skipped`: why the prompt did not answer; it may when the run goes on.
   */
  | (FactKey & {
      readonly type: "checked";
      readonly worker: string;
      readonly agrees?: boolean;
      /** Paths of the output's fields that differ. */
      readonly different?: readonly string[];
      readonly skipped?: string;
    })
  /** Writes of file tools are being taken back, after the run: names of files as the run knew them. Such a run does not go on. */
  | {
      readonly type: "undo";
      readonly restored: readonly string[];
      /** Files that the run made. */
      readonly removed: readonly string[];
      /** Files that cannot be taken back. */
      readonly left: readonly string[];
    }
  /** The name of a file that a provider made. */
  | (FactKey & { readonly type: "artifact"; readonly name: string; readonly sha256: string });

export type FactType = Fact["type"];
export type FactOf<Type extends FactType> = Extract<Fact, { readonly type: Type }>;
/** The types of facts that a key identifies. */
export type KeyedFactType = Extract<Fact, FactKey>["type"];
/** The types of facts that belong to a call. */
export type PlacedFactType = Extract<Fact, { readonly callPath: CallPath }>["type"];
/** `key` is absent for a fact that a call has once: its start, its end, its abort. */
export type FactPlace = Pick<FactKey, "callPath"> & Partial<FactKey>;

/** `epoch`: the number of the lease that it was written under; absent for the first. */
export type JournalEntry = { readonly v: 2; readonly n: number; readonly time: number; readonly epoch?: number } & Fact;
