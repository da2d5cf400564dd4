import type { Gate, GatedToolset, GateOptions } from "../approval/gate-types.ts";
import type { Activity } from "../effects/activity.ts";
import type { ReachedLimit } from "../effects/effects.ts";
import type { Host, OpenScopesOptions } from "../host/host.ts";
import type { ScopeDeclaration, Scopes } from "../host/scopes/scopes.ts";
import type { ResultKeeper } from "../journal/stores/store.ts";
import type { WriteLog } from "../journal/write-log.ts";
import type { AuthMode } from "../models/create-model-resolver.ts";
import type { Model } from "../models/model.ts";
import type { PriceLookup } from "../models/prices.ts";
import type { ModelChoice, Program, Worker } from "../program/program.ts";
import type { ApprovalRule } from "../protocol/approval.ts";
import type { CallAddress, CallPath } from "../protocol/call.ts";
import type { EventSink } from "../protocol/event.ts";
import type { GivenPrice } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { FilePart, Message } from "../protocol/message.ts";
import type { ServerTool } from "../protocol/tool.ts";
import type { TraceLookup } from "../protocol/trace-context.ts";
import type { Limits } from "../protocol/usage.ts";
import type { AttachmentHandle } from "../toolsets/toolset.ts";
import type { WorkerEnd } from "../toolsets/workers/worker-toolset.ts";
import type { Budget } from "./bounds/budget.ts";
import type { Repeats } from "./bounds/loop-guard.ts";
import type { RequestPace } from "./bounds/request-pace.ts";
import type { Connections } from "./connect/connections.ts";
import type { CreatedTool, CreatedWorkers } from "./connect/created-workers.ts";
import type { ServerToolGrants } from "./connect/server-tool-grants.ts";
import type { Emit } from "./create-emitter.ts";
import type { CutResults, KeptResults } from "./history/cut-results.ts";
import type { PrefixWatch } from "./history/prefix-watch.ts";
import type { Artifacts } from "./results/artifacts.ts";

/** The parameters of a run: everything that decides what may happen is required. */
export interface RunSetup extends Pick<GateOptions, "runId" | "policy" | "effects" | "redactor"> {
  readonly host: Host;
  /** Keeps what file tools replace. Absent: nothing does. */
  readonly writes?: WriteLog | undefined;
  /** Absent: whole results that are cut stay in memory. */
  readonly results?: ResultKeeper | undefined;
  /** The rules that the run was given, beside those of its manifest: recorded. Default: none. */
  readonly givenRules?: readonly ApprovalRule[] | undefined;
  readonly resolveModel: (id: string, auth?: AuthMode) => Promise<Model>;
  readonly priceOf: PriceLookup;
  /** Resolves with the tokens that a request to a model and its answer can have together; undefined if that is not known. */
  readonly windowOf: (modelId: string) => Promise<number | undefined>;
  /** The run's own. */
  readonly limits: Limits;
  /** The prices that the run was given: recorded. Default: none. */
  readonly prices?: readonly GivenPrice[];
  /** Shared with other runs. Default: the run goes at its own pace. */
  readonly pace?: RequestPace | undefined;
  readonly version: string;
  /** Every call is reported in full detail, whatever the program says. */
  readonly debug: boolean;
  /** Streams responses where somebody listens to deltas. */
  readonly streaming: boolean;
  readonly onEvent: EventSink | undefined;
  readonly traceOf?: TraceLookup | undefined;
  readonly onMessage: ((callPath: CallPath, message: Message) => void) | undefined;
}

export interface OpenRunScopesOptions extends Pick<OpenScopesOptions, "atFirstUse"> {
  /** The call that writes through them. */
  readonly callPath?: CallPath;
}

/** Shared by all calls of a run; frozen. */
export interface RuntimeConfig extends RunSetup {
  readonly program: Program;
  readonly gate: Gate;
  readonly activity: Activity;
  readonly budget: Budget;
  readonly serverTools: ServerToolGrants;
  readonly artifacts: Artifacts;
  readonly connections: Connections;
  readonly created: CreatedWorkers;
  readonly keptResults: KeptResults;
  readonly prefixes: PrefixWatch;
  /** Ends a call whose time is up, by its path; `undefined` is the run. */
  readonly timeUp: Map<CallPath | undefined, () => void>;
  readonly openScopes: (declarations: readonly ScopeDeclaration[], options?: OpenRunScopesOptions) => Promise<Scopes>;
  readonly emit: Emit;
  /** `callWorker` of `call-worker.ts`, for the runtimes of tools, which the call of a worker imports. */
  readonly callWorker: (request: CallRequest, id: string, input: WorkerInput) => Promise<CallEnd>;
}

/** The start of a call. */
export interface CallRequest extends CallAddress {
  readonly run: RuntimeConfig;
  /** The caller's budget: the call draws on it, and on its own. */
  readonly budget: Budget;
  readonly signal: AbortSignal;
  /** The conversation that the entry goes on with. */
  readonly history?: readonly Message[];
  /** The prompt answers, although the worker has code. */
  readonly byPrompt?: boolean;
}

export type CallEnd = WorkerEnd;

/** One call; frozen. */
export interface CallConfig extends CallAddress {
  readonly run: RuntimeConfig;
  readonly worker: Worker;
  readonly model: ModelChoice;
  readonly toolsets: readonly GatedToolset[];
  /** Names of tools whose definitions the model gets when it has searched for them. */
  readonly deferred: ReadonlySet<string>;
  /** Those that were granted. */
  readonly serverTools: readonly ServerTool[];
  readonly scopes: Scopes;
  readonly attachments: readonly AttachmentHandle[];
  readonly budget: Budget;
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  /** Ends everything below this call. */
  readonly abort: (reason: unknown) => void;
}

/** State of a call that changes while it runs. */
export interface CallFrame {
  readonly input: JsonObject;
  readonly system: readonly string[];
  /** Its history first. */
  readonly messages: Message[];
  /** How many of `messages` are of earlier runs. */
  readonly earlier: number;
  /** Model responses so far. */
  turn: number;
  /** Tool calls so far: the ordinals of their call paths. */
  toolCalls: number;
  /** The workers that this call created, by name: the model is offered them from the next turn on. */
  readonly created: Map<string, CreatedTool>;
  /** Call paths of the calls that the provider executed, by their ids. */
  readonly serverCalls: Map<string, CallPath>;
  /** How many of `messages` the record has. */
  recorded: number;
  readonly repeats: Repeats;
  /** The last request that was answered: its input as the provider counted it, and as it was estimated. In tokens. */
  measured: { readonly tokens: number; readonly estimate: number } | undefined;
  /** The length of the last request that was refused as too long for the model. In tokens. */
  refusedTokens: number | undefined;
  /** Results that were cut; undefined before the first. */
  cuts: CutResults | undefined;
  /** The text of the last response: what there is to give where the call must end. */
  partialOutput: string;
  /** The limit that makes the next turn the last. */
  lastTurn: ReachedLimit | undefined;
  /** Releases what is set aside for the last turn. */
  releaseLastTurn: () => void;
  /** Tokens that the answer of the last turn gets; known when the first turn begins. */
  lastAnswerTokens: number | undefined;
}

/** The arguments of a worker call. */
export interface WorkerInput {
  readonly input: JsonObject;
  /** One for each attachment value of `input`, in the order in which they stand in it. */
  readonly files: readonly FilePart[];
  /** Context beside the input, each a part of its own, after the worker's own fragments. */
  readonly fragments: readonly string[];
}
