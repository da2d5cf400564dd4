import type { Effect } from "../effects/effects.ts";
import type { Verdict } from "../protocol/approval.ts";
import type { FactKey } from "../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { toolName } from "../toolsets/tool-name.ts";
import { type Tool, ToolFailure, toolFailure, type WorkerRuntime } from "../toolsets/toolset.ts";
import { abortable } from "../util/abortable.ts";
import { copyJson } from "../util/plain-json.ts";
import { type Ticket, Tickets } from "../util/tickets.ts";
import { toJsonValue } from "../util/to-json-value.ts";
import { readRules } from "./approval-rule.ts";
import { askApprover, editedArgs, endsRunAt, policyStop } from "./ask-approver.ts";
import { takeTicket } from "./call-order.ts";
import {
  type Gate,
  type GatedCall,
  type GatedToolset,
  type GateOptions,
  type GateRun,
  PolicyStop,
  type ToolsetBinding,
} from "./gate-types.ts";
import {
  argsToExecute,
  authorsWord,
  type CheckedArgs,
  checkArgs,
  ownVerdict,
  type PendingCall,
  type PreparedCall,
  prepareCall,
  restoreCall,
  rulesWord,
} from "./pending-call.ts";
import { checkPolicy } from "./policy.ts";
import { QuestionQueue } from "./question-queue.ts";
import { blockedRefusal, deniedRefusal, toRefusal } from "./refusal.ts";
import { judge } from "./verdict.ts";

/*
 * Terminology. A call is *pending* until it is settled. It is *prepared*: looked at, in its one form, with a digest. The
 * *verdict* is what the rules say of it, the *decision* what an approver answered where the verdict is ask, the *grant* the
 * proof that it may execute. A call is *settled* when it has a result, or is to be judged anew with edited arguments: that is
 * its next *round*. What is found out and decided in a round is recorded under the round's key, and a replayed run takes it
 * from the record.
 */

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
    questions: new QuestionQueue(),
    order: new Tickets(),
    prepared: new Tickets(),
  };
  return { gate: (binding) => gateToolset(run, binding) };
}

/** Where a call stands after it was judged: at its end, or again at the beginning with the arguments that a person edited. */
type Settled = { readonly result: ToolResult } | { readonly edited: CheckedArgs };

function gateToolset(run: GateRun, binding: ToolsetBinding): GatedToolset {
  const byName = new Map(binding.tools.map((tool) => [toolName(binding.prefix, tool.name), tool]));
  const { toolset, config } = binding;
  const unisolated = run.policy.unisolated === true;
  let opened: Promise<void> | undefined;
  const open = () => (opened ??= (async () => toolset.open?.(config))());
  const gated = {
    reference: binding.reference,
    definitions: [...byName].map(([name, tool]) => ({ name, description: tool.description, inputSchema: tool.input.jsonSchema })),
    has: (name) => byName.has(name),
    isSequential: (name) => byName.get(name)?.sequential ?? false,
    callsOf: (name) => byName.get(name)?.calls ?? [],
    close: async () => {
      if (opened) await toolset.close?.(config);
    },
    judge: async (request) => {
      const call = { binding, tool: requireTool(byName, request.name), request, unisolated, open };
      return judgeCall(run, call, await prepareCall(call, await checkArgs(call, request.args)));
    },
    call: async (request) => {
      const tool = byName.get(request.name);
      return tool ? passGate(run, { binding, tool, request, unisolated, open }) : toRefusal(unknownTool(request.name));
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

/**
 * Validated, prepared and settled in its turn, as often as a person edits the arguments: each time with a new ticket. Why a
 * call has no other result is recorded, so that a replayed run refuses it at the same place.
 */
async function passGate(run: GateRun, call: PendingCall): Promise<ToolResult> {
  const { callPath, name, keyPrefix = "" } = call.request;
  let args: CheckedArgs | undefined;
  for (let round = 1; ; round++) {
    const key = `${keyPrefix}${round}`;
    try {
      const settled = await takeRound(run, { ...call, key }, args);
      if ("result" in settled) return settled.result;
      args = settled.edited;
    } catch (thrown) {
      const refused = failureOf(run, call.request, thrown);
      if (!refused.ok) run.effects.record({ type: "refusal", callPath, key, tool: name, error: refused.error });
      return refused;
    }
  }
}

/** A call in one of its rounds. */
interface CallInRound extends PendingCall {
  /** Identifies what is found out and decided in this round. */
  readonly key: string;
}

/** A call whose turn it is. */
interface CallInTurn extends CallInRound {
  readonly ticket: Ticket;
}

/**
 * Takes the ticket before the first `await`: calls have the order in which they enter the gate. Copies the arguments before
 * it, too: code may keep what it passed, and change it while the call waits.
 */
async function takeRound(run: GateRun, call: CallInRound, checked: CheckedArgs | undefined): Promise<Settled> {
  const given = checked ? checked.args : copyJson(call.request.args);
  const ticket = takeTicket(run.order, call, given);
  try {
    await ticket.turn(call.request.runtime.signal);
    const args = checked ?? (await checkArgs(call, given));
    return await settleAlone(run, { ...call, ticket }, await prepare(run, call, args));
  } finally {
    ticket.release();
  }
}

/** What the call is about: looked at now, or as it was recorded. */
async function prepare(run: GateRun, call: CallInRound, checked: CheckedArgs): Promise<PreparedCall> {
  const { callPath, name, runtime } = call.request;
  const recorded = run.effects.recall("verdict", { callPath, key: call.key });
  if (recorded) return restoreCall(call, checked, recorded);
  refuseAsRecorded(run, call);
  return run.effects.look({ callPath, what: `what ${name} is about`, signal: runtime.signal }, () => prepareCall(call, checked));
}

function refuseAsRecorded(run: GateRun, { request, key }: CallInRound): void {
  const recorded = run.effects.recall("refusal", { callPath: request.callPath, key });
  if (recorded) throw new ToolFailure(recorded.error);
}

/** Calls of the run that share a target which `prepare` found go one after another; one that had to wait is prepared anew. */
async function settleAlone(run: GateRun, call: CallInTurn, prepared: PreparedCall): Promise<Settled> {
  const { targets } = prepared.preparation;
  if (isDelegating(call.tool) || targets.length === 0) return settle(run, call, prepared);
  const ticket = run.prepared.take(targets.map((key) => ({ key, mode: "change" })));
  try {
    await ticket.turn(call.request.runtime.signal);
    return await settle(run, call, ticket.waits ? await prepare(run, call, prepared.checked) : prepared);
  } finally {
    ticket.release();
  }
}

async function settle(run: GateRun, call: CallInTurn, prepared: PreparedCall): Promise<Settled> {
  const { callPath, name } = call.request;
  const { digest, preparation } = prepared;
  const key: FactKey = { callPath, key: call.key };
  const verdict = run.effects.recall("verdict", key)?.verdict ?? judgeCall(run, call, prepared);
  const { canonicalArgs: args, facts, sideEffect, hint } = preparation;
  const more = { ...(sideEffect === undefined ? {} : { sideEffect }), ...(hint === undefined ? {} : { hint }) };
  const found = { args, facts, digest, ...more };
  run.effects.record({ type: "verdict", ...key, tool: name, ...found, verdict });
  if (!run.effects.recall("decision", key)) refuseAsRecorded(run, call);
  if (verdict.type === "blocked") return { result: blockedRefusal(name, verdict.why) };
  if (verdict.type === "allowed") return { result: await execute(run, call, grant(run, call, prepared)) };
  const { why, isUnstated } = verdict;
  const decision = await askApprover(run, call, { ...key, prepared, why, isUnstated });
  if (decision.type !== "approve") {
    if (endsRunAt(run, decision)) throw policyStop(call, decision);
    return { result: deniedRefusal(name, decision.note, hint) };
  }
  const edited = await editedArgs(run, call, { decision, prepared });
  if (edited) return { edited };
  return { result: await execute(run, call, grant(run, call, await confirm(run, call, prepared))) };
}

/** Prepares a call again after its question. Throws a `ToolFailure` where it is no longer what was approved. */
async function confirm(run: GateRun, call: CallInTurn, prepared: PreparedCall): Promise<PreparedCall> {
  const { callPath, name, runtime } = call.request;
  const key = { callPath, key: call.key };
  refuseAsRecorded(run, call);
  if (prepared.isRestored && run.effects.recall("grant", key)) return prepared;
  return run.effects.look({ ...key, what: `another look at ${name}`, signal: runtime.signal }, () =>
    prepareAgain(call, prepared),
  );
}

async function prepareAgain(call: CallInTurn, prepared: PreparedCall): Promise<PreparedCall> {
  const again = await prepareCall(call, prepared.checked);
  if (again.digest === prepared.digest) return again;
  const error = `what \`${call.request.name}\` was approved for has changed since the question`;
  throw toolFailure("changed", error, "look again and repeat the call if it is still wanted");
}

function judgeCall({ rules }: GateRun, call: PendingCall, prepared: PreparedCall): Verdict {
  return judge({ own: ownVerdict(call, prepared), preApproved: authorsWord(call), ruling: rulesWord(rules, call, prepared) });
}

function grant(run: GateRun, { request, key }: CallInRound, prepared: PreparedCall): Granted<PreparedCall> {
  grants.add(prepared);
  run.effects.record({ type: "grant", callPath: request.callPath, key, tool: request.name });
  return prepared as Granted<PreparedCall>;
}

/** Executes a granted call: a leaf as an effect, in its place among the leaf tools; one that waits for calls of its own as a call. */
async function execute(run: GateRun, call: CallInTurn, granted: Granted<PreparedCall>): Promise<ToolResult> {
  if (!grants.delete(granted)) throw new Error("invariant: a call without a grant reached execution");
  const { tool, request, ticket } = call;
  const { signal } = request.runtime;
  if (!isDelegating(tool)) return request.bounded(() => run.effects.perform(toEffect(run, call, granted), signal), signal);
  ticket.release();
  return delegate(run, call, granted);
}

function toEffect(run: GateRun, call: CallInTurn, granted: Granted<PreparedCall>): Effect<ToolResult> {
  const { tool, request } = call;
  const { digest, preparation } = granted;
  const sideEffect = preparation.sideEffect ?? tool.sideEffect ?? true;
  const key = `tool ${request.keyPrefix ?? ""}`.trimEnd();
  const record = { callPath: request.callPath, key, kind: "tool" as const, digest, sideEffect, announced: false, detail: {} };
  return { record, codec: resultCodec, work: () => redeem(run, call, granted) };
}

const resultCodec = {
  encode: (result: ToolResult) => result as unknown as JsonValue,
  decode: (value: JsonValue) => value as unknown as ToolResult,
};

/**
 * A worker's call records itself. Code that calls others is entered in every replay; what it does besides is no effect of its
 * own, so its start is on disk before it.
 */
async function delegate(run: GateRun, call: CallInTurn, granted: Granted<PreparedCall>): Promise<ToolResult> {
  const { tool, request } = call;
  const { callPath, depth, name } = request;
  if ((granted.preparation.sideEffect ?? tool.sideEffect) === false) return redeem(run, call, granted);
  const input = { input: granted.preparation.canonicalArgs, files: [], fragments: [] };
  await run.effects.recordDurably({ type: "call-start", callPath, kind: "tool", name, depth, input });
  const end = (stopReason: "done" | "failed" | "aborted", result: JsonObject) =>
    run.effects.record({ type: "call-end", callPath, stopReason, usage: run.effects.state.usageOf(callPath), ...result });
  try {
    const result = await redeem(run, call, granted);
    const finished = run.effects.finish(callPath, request.runtime.signal);
    if (finished) await finished;
    end(result.ok ? "done" : "failed", { result: result as unknown as JsonObject });
    return result;
  } catch (thrown) {
    end(request.runtime.signal.aborted ? "aborted" : "failed", {});
    throw thrown;
  }
}

/** The only place in the product where a tool's code is entered. */
async function redeem(run: GateRun, { tool, request, open }: CallInTurn, granted: Granted<PreparedCall>): Promise<ToolResult> {
  const { runtime } = request;
  const work = async () => {
    await abortable(open(), runtime.signal);
    const args = await argsToExecute(tool, granted);
    runtime.signal.throwIfAborted();
    return tool.execute(args, runtime, granted.preparation.payload);
  };
  try {
    runtime.signal.throwIfAborted();
    return { ok: true, value: toJsonValue(await settled(tool, runtime, work)) as JsonValue };
  } catch (thrown) {
    return failureOf(run, request, thrown);
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
function failureOf(run: GateRun, { runtime }: GatedCall, thrown: unknown): ToolResult {
  runtime.signal.throwIfAborted();
  if (thrown instanceof PolicyStop || run.endsRun(thrown)) throw thrown;
  return toRefusal(thrown);
}
