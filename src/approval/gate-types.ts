import type { Activity } from "../effects/activity.ts";
import type { Effects } from "../effects/effects.ts";
import type { Verdict } from "../protocol/approval.ts";
import type { CallAddress, CallPath } from "../protocol/call.ts";
import type { RunEventBody } from "../protocol/event.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import type { ToolDefinition } from "../protocol/tool.ts";
import type { Tool, ToolCaller, Toolset, WorkerRuntime } from "../toolsets/toolset.ts";
import type { Forward } from "../toolsets/workers/delegation.ts";
import type { Ticket, Tickets } from "../util/async/tickets.ts";
import type { Redactor } from "../util/secrets/redactor.ts";
import type { QuestionQueue } from "./asking/question-queue.ts";
import type { ApprovalPolicy } from "./policy.ts";
import type { ReadRule, RuledCall } from "./rules/approval-rule.ts";

declare const gatedBrand: unique symbol;

/** A toolset behind the gate: the only kind that the agent loop takes. Made by `Gate.gate`, and by nothing else. */
export interface GatedToolset {
  readonly [gatedBrand]: true;
  readonly reference: string;
  /** Definitions of the tools for the model, under the names that it calls them by. */
  readonly definitions: readonly ToolDefinition[];
  has(name: string): boolean;
  isSequential(name: string): boolean;
  /** Calls that the tool's code may make. */
  callsOf(name: string): readonly string[];
  /** As in `ToolsetBinding`. */
  readonly reachesToolsets: boolean;
  /** Judges a call, which is looked at and not made. Rejects with a `ToolFailure` if it cannot be made at all. */
  judge(request: GatedCall): Promise<Verdict>;
  /** The whole way of one call. Never rejects for what a tool, a model or an approver did; rejects on abort and on a policy stop. */
  call(request: GatedCall): Promise<ToolResult>;
  /** Closes the toolset where a call opened it. Undefined if there is nothing to close. */
  close(): Promise<void> | undefined;
}

/** One toolset as a worker refers to it. */
export interface ToolsetBinding {
  readonly reference: string;
  readonly toolset: Toolset;
  readonly config: unknown;
  /** Put before each tool's name, with an underscore. */
  readonly prefix?: string;
  /** `_approval_config`: unprefixed tool name, or `*`, to pre-approved. */
  readonly approvals: ReadonlyMap<string, boolean>;
  /** True if programs that its tools start may use the network. Default false. */
  readonly networkEnabled?: boolean;
  /** Identifies the configuration of a toolset that connects among those of the run. */
  readonly connection?: string;
  /** Turns calls of its tools into calls of workers' own tools, before anything else of the gate. */
  readonly forward?: Forward;
  /** Called when a tool has its result, in a replay too: for what a result changes in the run itself. */
  readonly settled?: (args: JsonObject, runtime: WorkerRuntime) => Promise<void>;
  /** Its tools call what the other toolsets of their caller have, in the place of their `calls`. Default false. */
  readonly reachesToolsets?: boolean;
  /** Code refers to it by calling it: no file can pre-approve its tools. */
  readonly fromCode?: boolean;
  /** The tools of this configuration, under their unprefixed names. Before a toolset is connected: those that are known without. */
  readonly tools: readonly Tool[];
}

export interface GatedCall {
  readonly name: string;
  readonly args: JsonValue;
  /** Texts that code passes beside the input of a worker; never empty. Approvers and rules see them as the argument `extra_context`. */
  readonly extraContext?: readonly string[];
  readonly caller: ToolCaller;
  /** The call as it was made, where it was forwarded: rules speak of either name. */
  readonly via?: Pick<GatedCall, "name" | "args"> & { readonly reference: string; readonly tool: Tool };
  /** Tells calls apart that share a call path: grants of server-side tools. Ends with a blank. Default: empty. */
  readonly keyPrefix?: string;
  /** The runtime that the tool will see. It says which call it is, and who makes it. */
  readonly runtime: WorkerRuntime;
  /**
   * Waits for one of the slots in which leaf tools execute, and returns what gives it back. Tools that wait for calls of their
   * own take none. Default: there is no bound.
   */
  readonly takeSlot?: (signal: AbortSignal) => (() => void) | Promise<() => void>;
  /** Called where the call ended in an earlier attempt of the run, so that it is not entered: its calls still count. */
  readonly onRepeated?: () => void;
  /** Taken before it was forwarded, in place of the one of its first round. */
  readonly ticket?: Ticket;
}

/** The part of a run's record that the gate reads. */
export interface GateOptions {
  readonly runId: string;
  readonly policy: ApprovalPolicy;
  /** Records facts and answers effects. */
  readonly effects: Effects;
  readonly activity: Activity;
  readonly emit: (call: CallAddress, body: RunEventBody) => void;
  /** Takes secrets out of questions and reports. */
  readonly redactor: Redactor;
  /** Ends everything of the run at once: code that catches what a call throws must not go on. */
  readonly stop: (reason: PolicyStop) => void;
  /** Ends a call whose time was up in the recorded run, by its path. Absent if nothing is replayed. */
  readonly timeUp?: Map<CallPath | undefined, () => void>;
  /** Blocks calls that may change something: the run checks what is done already. Default false. */
  readonly looksOnly?: boolean;
  /** True for what a nested call throws that must end the run, and not be told to a model. */
  readonly endsRun: (thrown: unknown) => boolean;
}

/** The gate's own record of a run in progress. */
export interface GateRun extends GateOptions {
  readonly rules: readonly ReadRule[];
  readonly questions: QuestionQueue;
  /** Calls that asked so far, and that a rule could have allowed. */
  readonly asked: RuledCall[];
  /** Tickets for what `Toolset.targets` names, taken before a call is prepared. */
  readonly order: Tickets;
  /** Tickets for the targets that `prepare` found. */
  readonly foundTargets: Tickets;
}

/** A toolset behind the gate, and the run that it belongs to. */
export interface Gated {
  readonly run: GateRun;
  readonly binding: ToolsetBinding;
  /** By the names that models and code call them by. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Opens the toolset before its first execution; later calls wait for the same opening. Absent: there is nothing to open or close. */
  readonly open?: (() => Promise<void>) | undefined;
}

export interface Gate {
  gate(binding: ToolsetBinding): GatedToolset;
}

/** Ends the run: a call of an earlier attempt may have had its effect, and nobody can say whether it is repeated. */
export class UncertainCall extends Error {
  readonly callPath: CallPath;

  constructor(callPath: CallPath, message: string) {
    super(message);
    this.name = "UncertainCall";
    this.callPath = callPath;
  }
}

/** Ends the run: a person said stop, or something was denied in a run that stops for it. */
export class PolicyStop extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PolicyStop";
  }
}
