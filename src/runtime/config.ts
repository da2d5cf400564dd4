import type { Gate, GatedToolset } from "../approval/gate-types.ts";
import type { Clock, Host } from "../host/host.ts";
import type { Scopes } from "../host/scopes.ts";
import type { Journal } from "../journal/journal.ts";
import type { Model } from "../models/model.ts";
import type { PriceLookup } from "../models/prices.ts";
import type { Program, Worker } from "../program/program.ts";
import type { CallPath } from "../protocol/call.ts";
import type { RunEventBody } from "../protocol/event.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { FilePart, Message } from "../protocol/message.ts";
import type { ServerTool } from "../protocol/tool.ts";
import type { LimitName } from "../protocol/usage.ts";
import type { AttachmentHandle } from "../toolsets/toolset.ts";
import type { Artifacts } from "./artifacts.ts";
import type { FailureStreak } from "./failure-streak.ts";
import type { LimitAccount } from "./limit-account.ts";
import type { ServerToolGrants } from "./server-tool-grants.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** Shared by all calls of a run; frozen. */
export interface RuntimeConfig {
  readonly runId: string;
  readonly program: Program;
  readonly gate: Gate;
  readonly meter: UsageMeter;
  readonly failures: FailureStreak;
  readonly account: LimitAccount;
  readonly serverTools: ServerToolGrants;
  readonly artifacts: Artifacts;
  /** Of each call, where the worker says nothing stricter. */
  readonly maxTurns: number | undefined;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly random: () => number;
  readonly openScopes: Host["openScopes"];
  readonly resolveModel: (id: string) => Promise<Model>;
  /** Every call is told in full detail. */
  readonly debug: boolean;
  readonly priceOf: PriceLookup;
  /** Streams responses where somebody listens to deltas. */
  readonly streaming: boolean;
  readonly emit: (call: CallPlace, body: RunEventBody) => void;
  readonly onMessage: ((callPath: CallPath, message: Message) => void) | undefined;
  /**
   * Runs one call of a worker with its own frame, scopes, toolsets and account. Rejects only with what ends more than that
   * call (an abort, a refused key, a provider that keeps failing, a policy stop, an exhausted account of a caller), with a
   * `RequestFailed`, or with a `ToolFailure` that the caller is to be told.
   */
  readonly callWorker: (worker: Worker, request: CallRequest) => Promise<CallEnd>;
}

export interface CallRequest extends CallPlace {
  readonly input: WorkerInput;
  /** The caller's account: the call draws on it, and on its own. */
  readonly account: LimitAccount;
  readonly signal: AbortSignal;
}

/** How a worker's call ended. `limit` and `cut`: with what it had so far; `reason` says which limit, or what to raise. */
export interface CallEnd {
  readonly output: JsonValue;
  readonly stopReason: "done" | "limit" | "cut";
  readonly reason?: string;
}

export interface CallPlace {
  readonly callPath: CallPath;
  readonly depth: number;
}

/** One call; frozen. */
export interface CallConfig extends CallPlace {
  readonly run: RuntimeConfig;
  readonly worker: Worker;
  readonly model: Model;
  readonly modelSource: string;
  readonly toolsets: readonly GatedToolset[];
  /** Those that were granted. */
  readonly serverTools: readonly ServerTool[];
  readonly scopes: Scopes;
  readonly attachments: readonly AttachmentHandle[];
  readonly account: LimitAccount;
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  /** Ends everything below this call. */
  readonly abort: (reason: unknown) => void;
}

/** The limit that a call ends at. */
export interface Ending {
  readonly limit: LimitName;
  readonly allowed: number;
}

/** What changes while a call runs. */
export interface CallFrame {
  readonly input: JsonObject;
  readonly system: readonly string[];
  readonly messages: Message[];
  /** Model responses so far. */
  turn: number;
  /** Tool calls so far: the ordinals of their call paths. */
  toolCalls: number;
  /** Where each call that the provider executed is told, by its id. */
  readonly serverCalls: Map<string, CallPath>;
  /** How many of `messages` the journal has. */
  journalled: number;
  /** The text of the last response: what there is to give where the call must end. */
  partialOutput: string;
  /** Set when the next turn is the last. */
  ending: Ending | undefined;
  /** Lets go of what is held back for the last turn; nothing where there is none. */
  letGo: () => void;
  /** Tokens that the answer of the last turn gets; told when the first turn begins. */
  lastAnswer: number | undefined;
}

/** What a caller hands to a worker. */
export interface WorkerInput {
  readonly input: JsonObject;
  /** One for each attachment value of `input`, in the order in which they stand in it. */
  readonly files: readonly FilePart[];
  /** Context beside the input, each a part of its own, after the worker's own fragments. */
  readonly fragments: readonly string[];
}
