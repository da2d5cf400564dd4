import type { ApprovalDecision, DeniedCall, Verdict } from "../protocol/approval.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { toolName } from "../toolsets/tool-name.ts";
import { type Tool, type ToolFailure, toolFailure, type WorkerRuntime } from "../toolsets/toolset.ts";
import { abortable } from "../util/abortable.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { errorMessage } from "../util/error-message.ts";
import { copyJson } from "../util/plain-json.ts";
import { type Ticket, Tickets } from "../util/tickets.ts";
import { toJsonValue } from "../util/to-json-value.ts";
import { allowLine } from "./allow-line.ts";
import { type ReadRule, readRules } from "./approval-rule.ts";
import { takeTicket } from "./call-order.ts";
import { type Decision, decide } from "./decide.ts";
import { type Gate, type GatedCall, type GatedToolset, type GateOptions, PolicyStop, type ToolsetBinding } from "./gate-types.ts";
import { ApprovalMemory } from "./memory.ts";
import {
  argsToExecute,
  authorsWord,
  type CheckedArgs,
  checkArgs,
  contentOf,
  describeCall,
  ownVerdict,
  type PendingCall,
  type PreparedCall,
  prepareCall,
  previewCall,
  rulesWord,
} from "./pending-call.ts";
import { checkPolicy } from "./policy.ts";
import { type Question, QuestionQueue } from "./question-queue.ts";
import { blockedRefusal, deniedRefusal, toRefusal } from "./refusal.ts";
import { createRememberedApprovals } from "./remembered-approvals.ts";
import { judge } from "./verdict.ts";

declare const grantBrand: unique symbol;

/** The proof that exactly this call may execute. Only this file makes one, and only this file takes one. */
type Granted<T> = T & { readonly [grantBrand]: true };
const grants = new WeakSet<object>();

/** The one gate of a run: validate → prepare → verdict → decision → prepare again, compare → grant → execute. */
export function createGate(options: GateOptions): Gate {
  const policy = checkPolicy(options.policy);
  const run: GateRun = {
    ...options,
    policy,
    rules: readRules(policy.rules),
    memory: new ApprovalMemory(),
    questions:
      policy.mode === "prompt" && policy.approver
        ? new QuestionQueue(policy.approver, { seconds: policy.timeoutSeconds, sleep: options.sleep })
        : undefined,
    order: new Tickets(),
    prepared: new Tickets(),
  };
  return { memory: run.memory, gate: (binding) => gateToolset(run, binding) };
}

interface GateRun extends GateOptions {
  readonly rules: readonly ReadRule[];
  readonly memory: ApprovalMemory;
  readonly questions: QuestionQueue | undefined;
  /** Tickets for what `Toolset.targets` names, taken before a call is prepared. */
  readonly order: Tickets;
  /** Tickets for the targets that `prepare` found. */
  readonly prepared: Tickets;
}

/** Where a call stands after it was judged: at its end, or again at the beginning with the arguments that a person edited. */
type Settled = { readonly result: ToolResult } | { readonly edited: CheckedArgs };

function gateToolset(run: GateRun, binding: ToolsetBinding): GatedToolset {
  const byName = new Map(binding.tools.map((tool) => [toolName(binding.prefix, tool.name), tool]));
  const { toolset, config } = binding;
  const unisolated = run.policy.unisolated === true;
  let isOpen = false;
  const gated = {
    reference: binding.reference,
    definitions: [...byName].map(([name, tool]) => ({ name, description: tool.description, inputSchema: tool.input.jsonSchema })),
    has: (name) => byName.has(name),
    isSequential: (name) => byName.get(name)?.sequential ?? false,
    callsOf: (name) => byName.get(name)?.calls ?? [],
    open: async () => {
      isOpen = true;
      await toolset.open?.(config);
    },
    close: async () => {
      if (isOpen) await toolset.close?.(config);
    },
    judge: async (request) => {
      const call = { binding, tool: requireTool(byName, request.name), request, unisolated };
      return judgeCall(run, call, await prepareCall(call, await checkArgs(call, request.args)));
    },
    call: async (request) => {
      const tool = byName.get(request.name);
      return tool ? passGate(run, { binding, tool, request, unisolated }) : toRefusal(unknownTool(request.name));
    },
  } satisfies Partial<GatedToolset>;
  return Object.freeze(gated) as unknown as GatedToolset;
}

function requireTool(tools: ReadonlyMap<string, Tool>, name: string): Tool {
  const tool = tools.get(name);
  if (tool) return tool;
  throw unknownTool(name);
}

function unknownTool(name: string): ToolFailure {
  return toolFailure("unknown_tool", `there is no tool \`${name}\``);
}

/** Validated, prepared and settled in its turn, as often as a person edits the arguments: each time with a new ticket. */
async function passGate(run: GateRun, call: PendingCall): Promise<ToolResult> {
  try {
    let args: CheckedArgs | undefined;
    for (;;) {
      const settled = await inTurn(run, call, args);
      if ("result" in settled) return settled.result;
      args = settled.edited;
    }
  } catch (thrown) {
    return settleFailure(run, call.request, thrown);
  }
}

/** A call whose turn it is. */
interface CallInTurn extends PendingCall {
  readonly ticket: Ticket;
}

/**
 * Takes the ticket before the first `await`: calls have the order in which they enter the gate. Copies the arguments before
 * it, too: code may keep what it passed, and change it while the call waits.
 */
async function inTurn(run: GateRun, call: PendingCall, checked: CheckedArgs | undefined): Promise<Settled> {
  const given = checked ? checked.args : copyJson(call.request.args);
  const ticket = takeTicket(run.order, call, given);
  try {
    await ticket.turn(call.request.runtime.signal);
    const args = checked ?? (await checkArgs(call, given));
    return await settleAlone(run, { ...call, ticket }, await prepareCall(call, args));
  } finally {
    ticket.release();
  }
}

/** Calls of the run that share a target which `prepare` found go one after another; one that had to wait is prepared anew. */
async function settleAlone(run: GateRun, call: CallInTurn, prepared: PreparedCall): Promise<Settled> {
  const { targets } = prepared.preparation;
  if (isDelegating(call.tool) || targets.length === 0) return settle(run, call, prepared);
  const ticket = run.prepared.take(targets.map((key) => ({ key, mode: "change" })));
  try {
    await ticket.turn(call.request.runtime.signal);
    return await settle(run, call, ticket.waits ? await prepareCall(call, prepared.checked) : prepared);
  } finally {
    ticket.release();
  }
}

async function settle(run: GateRun, call: CallInTurn, prepared: PreparedCall): Promise<Settled> {
  const { callPath, name } = call.request;
  const { digest, preparation } = prepared;
  const verdict = judgeCall(run, call, prepared);
  run.record({ type: "verdict", callPath, tool: name, args: preparation.canonicalArgs, digest, verdict });
  if (verdict.type === "blocked") return { result: blockedRefusal(name, verdict.why) };
  if (verdict.type === "allowed") return { result: await execute(run, call, grant(run, call, prepared)) };
  const { decision, source } = await askFor(run, call, { prepared, why: verdict.why });
  if (decision.type !== "approve")
    return { result: deny(run, call, { prepared, decision, source, isUnstated: verdict.isUnstated }) };
  const edited = await editedArgs(run, call, { decision, prepared });
  if (edited) return { edited };
  const again = await prepareCall(call, prepared.checked);
  if (again.digest !== digest) {
    const error = `what \`${name}\` was approved for has changed since the question`;
    throw toolFailure("changed", error, "look again and repeat the call if it is still wanted");
  }
  return { result: await execute(run, call, grant(run, call, again)) };
}

function judgeCall({ rules }: GateRun, call: PendingCall, prepared: PreparedCall): Verdict {
  return judge({ own: ownVerdict(call, prepared), preApproved: authorsWord(call), ruling: rulesWord(rules, call, prepared) });
}

/** What a person made of the arguments; undefined where they are as they were shown. */
async function editedArgs(run: GateRun, call: PendingCall, { decision, prepared }: Answer): Promise<CheckedArgs | undefined> {
  const args = decision.type === "approve" ? decision.args : undefined;
  if (!args || canonicalJson(args) === canonicalJson(run.hideKnown(prepared.view.args).shown)) return undefined;
  return checkEdited(call, args);
}

function checkEdited(call: PendingCall, args: JsonObject): Promise<CheckedArgs> {
  if (JSON.stringify(args).includes("⟦secret:")) {
    throw toolFailure("invalid_arguments", "the edited arguments hold a secret that was hidden from whoever edited them");
  }
  return checkArgs(call, args);
}

/** Why edited arguments would be refused, for whoever edits them. */
async function problemOf(run: GateRun, call: PendingCall, args: JsonObject): Promise<string | undefined> {
  try {
    await checkEdited(call, args);
    return undefined;
  } catch (thrown) {
    return run.hideKnown(errorMessage(thrown)).shown;
  }
}

interface Answer {
  readonly decision: ApprovalDecision;
  readonly prepared: PreparedCall;
}

async function askFor(
  run: GateRun,
  call: PendingCall,
  { prepared, why }: { readonly prepared: PreparedCall; readonly why: string },
): Promise<Decision> {
  const { callPath, name: tool, runtime, caller: worker, callerId } = call.request;
  const preview = previewCall(call, prepared);
  const { canonicalArgs: args } = prepared.preparation;
  const description = describeCall(call, prepared);
  const { reference } = call.binding;
  const whole = { runId: run.runId, callPath, worker, tool, args, description, why, ...(preview ? { preview } : {}) };
  const asked = { worker, callerId, reference, tool, args, why, content: contentOf(prepared, preview) };
  const outcome = await decide(
    { question: toQuestion(run, whole), call: asked },
    {
      policy: run.policy,
      memory: run.memory,
      questions: run.questions,
      approvals: createRememberedApprovals(run.memory, {
        hide: (value) => run.hideKnown(value).shown,
        onRevoke: ({ worker: of, tool: revoked, args: its }) =>
          run.record({ type: "revocation", callPath, worker: of, tool: revoked, args: its }),
      }),
      checkArgs: (edited) => problemOf(run, call, edited),
      signal: runtime.signal,
      step: run.step,
      onAnswer: (decision) => (endsRunAt(run, decision) ? policyStop(call, decision) : undefined),
      onAsk: (request) => run.emit(call.request, { type: "approval-request", request }),
    },
  );
  run.emit(call.request, { type: "approval-decision", tool, ...outcome });
  run.record({ type: "decision", callPath, tool, ...outcome });
  return outcome;
}

/** As an approver may see it. What is not shown in full cannot be remembered: this is the one place that decides it. */
function toQuestion(run: GateRun, whole: Omit<Question, "canRemember" | "notShown">): Question {
  const { shown, hidden } = run.hideKnown(whole);
  const omitted = whole.preview?.type === "text" ? whole.preview.omits : undefined;
  const notShown = [...hidden.map((name) => `the value of ${name}`), ...(omitted === undefined ? [] : [omitted])].join(", ");
  return notShown === "" ? { ...shown, canRemember: true } : { ...shown, notShown, canRemember: false };
}

interface Denial extends Decision {
  readonly prepared: PreparedCall;
  readonly decision: Exclude<ApprovalDecision, { readonly type: "approve" }>;
  readonly isUnstated: boolean;
}

function deny(run: GateRun, call: PendingCall, { prepared, decision, source, isUnstated }: Denial): ToolResult {
  const { callPath, caller: worker, name: tool } = call.request;
  const { note } = decision;
  const description = run.redact(describeCall(call, prepared));
  run.onDenied({
    callPath,
    worker,
    tool,
    description,
    source,
    ...(note === undefined ? {} : { note }),
    ...(isUnstated ? waysToAllow(call) : {}),
  });
  if (endsRunAt(run, decision)) {
    const reason = policyStop(call, decision);
    run.stop(reason);
    throw reason;
  }
  return deniedRefusal(tool, note, prepared.preparation.hint);
}

/** A rule, and a line of the worker's file; but no file can pre-approve what code calls. */
function waysToAllow({ binding, tool, request }: PendingCall): Pick<DeniedCall, "allow" | "rule"> {
  const rule = `${request.caller}/${request.name}`;
  return binding.fromCode ? { rule } : { rule, allow: allowLine(binding.reference, tool.name) };
}

function endsRunAt({ policy }: GateRun, { type }: ApprovalDecision): boolean {
  return type === "stop" || (type === "deny" && policy.onDenied === "stop");
}

function policyStop({ request }: PendingCall, { note }: ApprovalDecision): PolicyStop {
  return new PolicyStop(`\`${request.name}\` was denied${note ? `: ${note}` : ""}, and the run stops for it`);
}

function grant(run: GateRun, { request }: PendingCall, prepared: PreparedCall): Granted<PreparedCall> {
  grants.add(prepared);
  run.record({ type: "grant", callPath: request.callPath, tool: request.name, digest: prepared.digest });
  return prepared as Granted<PreparedCall>;
}

/** The only place in the product where a tool's code is entered. */
async function execute(run: GateRun, { tool, request, ticket }: CallInTurn, granted: Granted<PreparedCall>): Promise<ToolResult> {
  if (!grants.delete(granted)) throw new Error("invariant: a call without a grant reached execution");
  const { preparation, digest } = granted;
  const { runtime, callPath, name } = request;
  const step = {
    callPath,
    kind: isDelegating(tool) ? ("worker" as const) : ("tool" as const),
    detail: { tool: name, digest },
    sideEffect: preparation.sideEffect ?? tool.sideEffect ?? true,
    describe: (result: ToolResult) => ({ result: result as unknown as JsonObject }),
  };
  const work = async () => {
    const args = await argsToExecute(tool, granted);
    runtime.signal.throwIfAborted();
    return tool.execute(args, runtime, preparation.payload);
  };
  const perform = () => run.step(step, () => enter(run, request, () => settled(tool, runtime, work)));
  if (!isDelegating(tool)) return request.bounded(perform, runtime.signal);
  ticket.release();
  return perform();
}

async function enter(run: GateRun, request: GatedCall, work: () => Promise<unknown>): Promise<ToolResult> {
  try {
    request.runtime.signal.throwIfAborted();
    return { ok: true, value: toJsonValue(await work()) as JsonValue };
  } catch (thrown) {
    return settleFailure(run, request, thrown);
  }
}

/** A tool that does not end by itself on an abort is abandoned. */
function settled(tool: Tool, { signal }: WorkerRuntime, work: () => Promise<unknown>): Promise<unknown> {
  return tool.settlesOnAbort ? work() : abortable(work(), signal);
}

/** It waits for calls of its own, which may need the same targets and places: while it executes it holds neither. */
function isDelegating({ calls }: Tool): boolean {
  return calls !== undefined;
}

/** What ends the run goes on up; everything else is told to the model. */
function settleFailure(run: GateRun, { runtime }: GatedCall, thrown: unknown): ToolResult {
  runtime.signal.throwIfAborted();
  if (thrown instanceof PolicyStop || run.endsRun(thrown)) throw thrown;
  return toRefusal(thrown);
}
