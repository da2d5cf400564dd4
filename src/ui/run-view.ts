import type { Preview } from "../protocol/approval.ts";
import { type CallKind, type CallPath, isCodeOfWorker, parentCallPath } from "../protocol/call.ts";
import type { RunEvent } from "../protocol/event.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { addUsage, noUsage, type Usage } from "../protocol/usage.ts";
import { getOrMake } from "../util/get-or-make.ts";
import { renderCompaction } from "./render-compaction.ts";
import { renderDecision } from "./render-decision.ts";

/** A call in flight. Times are those of events: milliseconds since the epoch. */
export interface CallView {
  readonly path: CallPath;
  readonly startedAt: number;
  kind: CallKind;
  model?: string;
  args?: JsonValue;
  /** Usage of the call and everything below it. */
  usage: Usage;
  /** The model's turn, from 1; 0 before the first. */
  turn: number;
  state: "running" | "asking" | "retrying";
  /** The last words about it: of a tool, or why it waits. */
  note?: string;
  /** The streamed text of its turn so far, its end alone if it is long. */
  text: string;
  /** Calls below it that have ended. */
  ended: number;
  /** The change that was shown in the question. */
  preview?: Preview;
  /** The decision, in words. Present if an approval was asked for. */
  decision?: string;
}

/** A call that has ended, as it is shown for good. */
export interface ToolCard extends Readonly<Pick<CallView, "path" | "kind" | "args" | "preview" | "decision">> {
  readonly tool: string;
  readonly result: ToolResult;
  readonly milliseconds: number;
  /** Only of a worker. */
  readonly usage?: Usage;
  readonly executedBy?: "provider";
}

/** A part of a run that does not change any more. */
export type Settled =
  | { readonly type: "card"; readonly card: ToolCard }
  /** The text of a turn of the entry. */
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "note";
      readonly kind: "warning" | "limit" | "retry" | "failure";
      readonly path: CallPath;
      readonly text: string;
    };

/** The state of a run, as a person sees it: a fold over its events, which keeps what is in flight alone. */
export interface RunView {
  runId: string;
  entry: string;
  mode: string;
  model?: string;
  startedAt: number;
  /** The time of the last event. */
  now: number;
  /** In the order in which they began: callers before what they call. */
  readonly calls: Map<CallPath, CallView>;
  usage: Usage;
  /** Input tokens of the entry's last request: how much of its context is used. */
  contextTokens: number;
  calledTools: number;
  /** Questions that wait for an answer. */
  asking: number;
  ended?: Extract<RunEvent, { readonly type: "run-end" }>;
}

export function createRunView(): RunView {
  return {
    ...{ runId: "", entry: "", mode: "", startedAt: 0, now: 0 },
    calls: new Map(),
    usage: noUsage,
    contextTokens: 0,
    calledTools: 0,
    asking: 0,
  };
}

/** Characters of streamed text that are kept of a call below the entry. */
const longestTail = 400;

/** Applies an event to the view, which it changes in place. Returns what has settled by it. Takes constant time. */
export function foldEvent(view: RunView, event: RunEvent): readonly Settled[] {
  view.now = event.time;
  switch (event.type) {
    case "run-start":
      Object.assign(view, { runId: event.runId, entry: event.entry, mode: event.mode, startedAt: event.time });
      return [];
    case "run-end":
      view.ended = event;
      view.usage = event.usage;
      view.calls.clear();
      return [];
    case "limit":
      return [{ type: "note", kind: "limit", path: event.callPath, text: event.message }];
    case "compaction":
      return [{ type: "note", kind: "warning", path: event.callPath, text: renderCompaction(event) }];
    case "warning":
      return [{ type: "note", kind: "warning", path: event.callPath, text: event.message }];
    default:
      return foldCallEvent(view, event);
  }
}

type CallEvent = Exclude<RunEvent, { readonly type: "run-start" | "run-end" | "limit" | "compaction" | "warning" }>;

type ApprovalEvent = Extract<RunEvent, { readonly type: "approval-request" | "approval-decision" }>;

function foldCallEvent(view: RunView, event: CallEvent): readonly Settled[] {
  const isEntry = event.callPath === view.entry;
  const call = openCall(view, event);
  switch (event.type) {
    case "call-start":
      call.kind = event.kind;
      if (event.model !== undefined) call.model = event.model;
      if (isEntry && event.model !== undefined) view.model = event.model;
      return [];
    case "call-end":
      call.usage = event.usage;
      // Every other call ends with the result that its caller gets.
      if (parentCallPath(event.callPath) === undefined || isCodeOfWorker(event.callPath)) closeCall(view, call);
      return [];
    case "turn-start":
      Object.assign(call, { turn: event.turn, text: "", state: "running", note: undefined });
      return [];
    case "turn-end":
      return endTurn(view, call, event);
    case "text-delta":
      call.text = isEntry ? call.text + event.text : (call.text + event.text).slice(-longestTail);
      if (call.state === "retrying") call.state = "running";
      return [];
    case "tool-call":
      call.args = event.args;
      return [];
    case "tool-result":
      return endTool(view, call, event);
    case "approval-request":
    case "approval-decision":
      return foldApproval(view, call, event);
    case "retry":
      return startRetry(call, event);
    case "progress":
      call.note = event.message;
      return [];
    case "answered-by":
      if (event.reason !== undefined) call.note = `code: ${event.reason}`;
      return [];
    case "checked":
    case "usage":
    case "message":
    case "reasoning-delta":
    case "partial-output":
      return [];
  }
}

function foldApproval(view: RunView, call: CallView, event: ApprovalEvent): readonly Settled[] {
  if (event.type === "approval-request") {
    view.asking++;
    call.state = "asking";
    if (event.request.preview) call.preview = event.request.preview;
    return [];
  }
  if (call.state === "asking") view.asking--;
  call.state = "running";
  call.decision = renderDecision(event);
  return [];
}

function openCall(view: RunView, { callPath: path, time }: RunEvent): CallView {
  const fresh = { kind: "tool", usage: noUsage, turn: 0, state: "running", text: "", ended: 0 } as const;
  return getOrMake(view.calls, path, () => ({ path, startedAt: time, ...fresh }));
}

function closeCall(view: RunView, { path }: CallView): void {
  view.calls.delete(path);
  const parent = view.calls.get(parentCallPath(path) ?? "");
  if (parent) parent.ended++;
}

function endTurn(view: RunView, call: CallView, { usage, text }: Extract<RunEvent, { type: "turn-end" }>): readonly Settled[] {
  view.usage = addUsage(view.usage, usage);
  for (let at: CallPath | undefined = call.path; at !== undefined; at = parentCallPath(at)) {
    const one = view.calls.get(at);
    if (one) one.usage = addUsage(one.usage, usage);
  }
  call.text = "";
  if (call.path !== view.entry) return [];
  view.contextTokens = usage.inputTokens;
  return text === "" ? [] : [{ type: "text", text }];
}

function endTool(view: RunView, call: CallView, event: Extract<RunEvent, { type: "tool-result" }>): readonly Settled[] {
  const { tool, result, milliseconds, executedBy } = event;
  if (call.state === "asking") view.asking--;
  closeCall(view, call);
  view.calledTools++;
  const { path, kind, args, preview, decision, usage } = call;
  const card: ToolCard = {
    ...{ path, tool, kind, result, milliseconds },
    ...(args === undefined ? {} : { args }),
    ...(kind === "worker" ? { usage } : {}),
    ...(executedBy ? { executedBy } : {}),
    ...(preview ? { preview } : {}),
    ...(decision === undefined ? {} : { decision }),
  };
  return [{ type: "card", card }];
}

function startRetry(call: CallView, event: Extract<RunEvent, { type: "retry" }>): readonly Settled[] {
  call.state = "retrying";
  call.note = event.reason;
  const isVoid = call.text !== "" || event.afterOutput;
  call.text = "";
  const seconds = Math.ceil(event.delayMilliseconds / 1000);
  const text = `attempt ${event.attempt} of ${event.maxAttempts} failed: ${event.reason}; the next in ${seconds} s${isVoid ? "; the answer begins anew" : ""}`;
  return [{ type: "note", kind: "retry", path: call.path, text }];
}
