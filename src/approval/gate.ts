import type { Effect } from "../effects/effects.ts";
import { toolKey } from "../effects/keys.ts";
import type { Verdict } from "../protocol/approval.ts";
import type { FactKey } from "../protocol/fact.ts";
import type { ToolResult } from "../protocol/message.ts";
import { toolName } from "../toolsets/tool-name.ts";
import { ToolFailure, ToolInterrupted, toolFailure } from "../toolsets/toolset.ts";
import { abortable, isPromiseLike, orAborted } from "../util/async/abortable.ts";
import { type Ticket, Tickets } from "../util/async/tickets.ts";
import { copyJson } from "../util/json/plain-json.ts";
import { askApprover, editedArgs } from "./asking/ask-approver.ts";
import { letToolAsk, repeatQuestions } from "./asking/foreign-questions.ts";
import { QuestionQueue } from "./asking/question-queue.ts";
import { repeatSettlement, settleBegun } from "./asking/settle-begun.ts";
import { takeForwardTicket, takeTicket, turnOf, type WaitingCall } from "./call-order.ts";
import { executeCode, recallResult, resultCodec, toResult } from "./execute-code.ts";
import { joinContext } from "./extra-context.ts";
import { type Forwarded, forwardCall } from "./forward-call.ts";
import {
  type Gate,
  type Gated,
  type GatedCall,
  type GatedToolset,
  type GateOptions,
  type GateRun,
  PolicyStop,
  type ToolsetBinding,
} from "./gate-types.ts";
import {
  argsToExecute,
  type CheckedArgs,
  checkArgs,
  isDelegating,
  isWorkerCall,
  judgeCall,
  judgeOwnAgain,
  judgeRecorded,
  type PreparedCall,
  prepareCall,
  recordOf,
  restoreCall,
  showCall,
} from "./pending-call.ts";
import { checkPolicy } from "./policy.ts";
import { blockedResult, deniedResult, toRefusal } from "./refusal.ts";
import { readRules } from "./rules/approval-rule.ts";
import { startTimeout } from "./start-timeout.ts";
import { definitionsOf } from "./tool-definitions.ts";

/*
 * Terminology, one word a thing:
 *
 * call      what a model or code asks for: a tool and its arguments. It is pending until it has a result.
 * round     one pass of a call through the stages below. Edited arguments begin the next round.
 * ticket    keeps the order of calls that share a target. Held until the round ends; by a call that
 *           makes calls of its own until it is granted.
 * prepared  a call with valid arguments in their one form, the facts that a judgement rests on, and their digest.
 * verdict   what toolset, author and rules say of a prepared call: allowed, ask or blocked.
 * decision  what an approver (or the mode, or an earlier answer) says where the verdict is ask.
 * grant     the proof that exactly this prepared call may execute, once. After a question it is a fact of its own.
 * slot      one of the run's `parallel` executions of leaf tools.
 *
 * Findings and decisions of a round are recorded under its key. A replayed run takes it from the record.
 */

declare const grantBrand: unique symbol;
type Granted = PreparedCall & { readonly [grantBrand]: true };
/** The proof that exactly this call may execute, once. Only this file makes one, and only this file takes one. */
class Grant {
  #prepared: PreparedCall | undefined;

  constructor(prepared: PreparedCall) {
    this.#prepared = prepared;
  }

  take(): Granted {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    if (!prepared) throw new Error("invariant: a call without a grant reached execution");
    return prepared as Granted;
  }
}

/** The one gate of a run. */
export function createGate(options: GateOptions): Gate {
  const policy = checkPolicy(options.policy);
  const run: GateRun = {
    ...options,
    policy,
    rules: readRules(policy.rules),
    questions: new QuestionQueue(),
    asked: [],
    order: new Tickets(),
    foundTargets: new Tickets(),
  };
  return { gate: (binding) => gateToolset(run, binding) };
}

/** A call in one of its rounds. */
interface Round extends WaitingCall {
  readonly open: Gated["open"];
  /** Identifies what is found out and decided in this round. */
  readonly key: FactKey;
}

function gateToolset(run: GateRun, binding: ToolsetBinding): GatedToolset {
  const tools = new Map(binding.tools.map((tool) => [toolName(binding.prefix, tool.name), tool]));
  const { reference, toolset, config } = binding;
  let opened: Promise<void> | undefined;
  const open = () => (opened ??= (async () => toolset.open?.(config))());
  const gated: Gated = { run, binding, tools, ...(toolset.open || toolset.close ? { open } : {}) };
  const members = {
    reference,
    definitions: definitionsOf(binding),
    has: (name) => tools.has(name),
    isSequential: (name) => tools.get(name)?.sequential ?? false,
    callsOf: (name) => tools.get(name)?.calls ?? [],
    reachesToolsets: binding.reachesToolsets ?? false,
    close: () => opened && (async () => toolset.close?.(config))(),
    judge: judgeUnmade.bind(undefined, gated),
    call: (binding.forward ? forwardThroughGate : passGate).bind(undefined, gated),
  } satisfies Partial<GatedToolset>;
  return Object.freeze(members) as unknown as GatedToolset;
}

/** The verdict on a call that nobody makes. */
async function judgeUnmade(gated: Gated, given: GatedCall): Promise<Verdict> {
  const { gated: forwarded, request } = forwardCall(gated, given);
  const { run, binding, tools } = forwarded;
  const tool = tools.get(request.name);
  if (!tool) throw unknownTool(request.name);
  const call = { binding, tool, request, unisolated: run.policy.unisolated === true };
  return judgeCall(run, call, await prepareCall(call, await checkArgs(call, copyJson(request.args)), run.redactor)).verdict;
}

function unknownTool(name: string): ToolFailure {
  return toolFailure("unknown_tool", `there is no tool \`${name}\``);
}

/** Makes the call that another one is forwarded to. */
async function forwardThroughGate(gated: Gated, given: GatedCall): Promise<ToolResult> {
  let forwarded: Forwarded;
  let ticket: Ticket | undefined;
  try {
    ticket = takeForwardTicket(gated, given);
    // Only a call that waits gives up its place: the others are forwarded before anything is awaited.
    const { callPath, signal } = given.runtime;
    if (ticket?.waits) await gated.run.activity.waitBehind(callPath, ticket.turn(signal));
    else ticket?.release();
    forwarded = forwardCall(gated, ticket?.waits ? { ...given, ticket } : given);
  } catch (thrown) {
    ticket?.release();
    return recordRefusal(gated.run, { request: given, key: keyOfRound(given, 1) }, thrown);
  }
  const result = await passGate(forwarded.gated, forwarded.request);
  return result.ok ? { ok: true, value: forwarded.toResult(result.value) } : result;
}

/**
 * The whole way of a call: prepare → judge → ask → grant → execute, as often as an approver edits the arguments. A failure on the
 * way is recorded, so that a replayed run refuses the call at the same point.
 */
async function passGate({ run, binding, tools, open }: Gated, request: GatedCall): Promise<ToolResult> {
  const { name } = request;
  const tool = tools.get(name);
  if (!tool) return toRefusal(unknownTool(name));
  const unisolated = run.policy.unisolated === true;
  let edited: CheckedArgs | undefined;
  for (let number = 1; ; number++) {
    const key = keyOfRound(request, number);
    const taken = number === 1 && request.ticket ? [request.ticket] : [];
    const call: Round = { binding, tool, request, unisolated, open, key, tickets: taken, stage: run.questions.register() };
    try {
      const preparing = prepare(run, call, { number, edited });
      const looked = preparing instanceof Promise ? await preparing : preparing;
      if ("settled" in looked) return looked.settled;
      const { verdict, prepared } = judge(run, call, looked);
      if (verdict.type === "blocked") return blockedResult(name, verdict.why);
      const answer: Answer =
        verdict.type === "ask" ? await ask(run, call, { prepared, verdict }) : { type: "approved", prepared };
      if (answer.type === "denied") return answer.result;
      if (answer.type === "approved") return await execute(run, call, new Grant(answer.prepared));
      edited = answer.args;
    } catch (thrown) {
      return recordRefusal(run, call, thrown);
    } finally {
      call.stage("past");
      releaseTickets(call);
    }
  }
}

interface BegunRound {
  readonly number: number;
  /** Checked arguments of an approver. */
  readonly edited: CheckedArgs | undefined;
}

/**
 * Waits for the call's turn, checks its arguments, and looks at what it is about; returns the result of one that is settled already. The
 * ticket is taken before anything is awaited: calls have the order in which they reach the gate. The arguments are copied before it, too:
 * code may change what it passed while the call waits.
 *
 * Calls that share a target which only looking can find go one after another; one that had to wait is looked at again.
 */
function prepare(run: GateRun, call: Round, { number, edited }: BegunRound): Looking {
  const { request, tickets } = call;
  const given = edited ? edited.args : copyJson(joinContext(request.args, request.extraContext));
  const turn = turnOf(run, call, tickets[0] ?? takeTicket(run.order, call, given));
  const settle = () => (number === 1 ? settleBegun(run, call) : undefined);
  const settling = turn ? turn.then(settle) : settle();
  if (settling) return settling.then((settled) => (settled ? { settled } : look(run, call, edited ?? checkArgs(call, given))));
  const checking = edited ?? checkArgs(call, given);
  return checking instanceof Promise ? look(run, call, checking) : waitForFound(run, call, lookAt(run, call, checking));
}

type Settled = { readonly settled: ToolResult };
type Looking = PreparedCall | Settled | Promise<PreparedCall | Settled>;

async function look(run: GateRun, call: Round, checking: CheckedArgs | Promise<CheckedArgs>) {
  return waitForFound(run, call, lookAt(run, call, await checking));
}

/** Waits for the calls before this one that share a target which looking found, and looks again then. */
function waitForFound(run: GateRun, call: Round, looking: PreparedCall | Promise<PreparedCall>): Looking {
  if (looking instanceof Promise) return looking.then((prepared) => waitForFound(run, call, prepared));
  const { targets } = looking.preparation;
  if (isDelegating(call.tool) || targets.length === 0) return looking;
  const found = run.foundTargets.take(targets.map((key) => ({ key, mode: "change" })));
  return turnOf(run, call, found)?.then(() => lookAt(run, call, looking.checked)) ?? looking;
}

/** The prepared call: found out now, or as it was recorded. */
function lookAt(run: GateRun, call: Round, checked: CheckedArgs): PreparedCall | Promise<PreparedCall> {
  const recorded = run.effects.recall("verdict", call.key);
  if (recorded) {
    const restored = restoreCall(call, checked, recorded);
    return run.effects.isReviewing ? judgeOwnAgain(call, restored, recorded) : restored;
  }
  throwRecordedRefusal(run, call);
  const { name, runtime } = call.request;
  const missed = run.effects.requireLive({ ...call.key, what: `what ${name} is about`, signal: runtime.signal });
  return missed ?? prepareCall(call, checked, run.redactor);
}

function throwRecordedRefusal({ effects }: GateRun, { key }: Round): void {
  const recorded = effects.recall("refusal", key);
  if (recorded) throw new ToolFailure(recorded.error);
}

/** Records what was found out about the call, and the verdict on it. Throws after an abort: no fact then begins anything. */
function judge(run: GateRun, call: Round, looked: PreparedCall): { readonly verdict: Verdict; readonly prepared: PreparedCall } {
  const { key, request } = call;
  request.runtime.signal.throwIfAborted();
  const judged = run.effects.recall("verdict", key) ?? judgeCall(run, call, looked);
  const prepared = judged.verdict.type === "ask" ? showCall(call, looked, run.redactor) : looked;
  run.effects.decideOnce("verdict", key, {
    decide: () => ({ tool: request.name, ...recordOf(prepared), ...judged }),
    again: (given, recorded) => judgeRecorded({ run, given: readRules(given) }, call, { recorded, ownToday: looked.ownToday }),
  });
  // A refusal before the question is repeated here, one after its answer by `confirm`.
  if (!run.effects.recall("decision", key)) throwRecordedRefusal(run, call);
  return { verdict: judged.verdict, prepared };
}

/** The outcome of a question. */
type Answer =
  | { readonly type: "approved"; readonly prepared: PreparedCall }
  | { readonly type: "edited"; readonly args: CheckedArgs }
  | { readonly type: "denied"; readonly result: ToolResult };

interface AskInput {
  readonly prepared: PreparedCall;
  readonly verdict: Extract<Verdict, { readonly type: "ask" }>;
}

/** Asks for the call, and prepares it again once it is approved. Rejects if the run stops for a denial. */
async function ask(run: GateRun, call: Round, { prepared, verdict: { type: _, ...why } }: AskInput): Promise<Answer> {
  const decision = await askApprover(run, call, { ...call.key, prepared, ...why, stage: call.stage });
  if (decision.type !== "approve")
    return { type: "denied", result: deniedResult(call.request.name, decision.note, prepared.preparation.hint) };
  const args = await editedArgs(run, call, { decision, prepared });
  if (args) return { type: "edited", args };
  const confirmed = await confirm(run, call, prepared);
  call.request.runtime.signal.throwIfAborted();
  run.effects.record({ type: "grant", ...call.key, tool: call.request.name });
  return { type: "approved", prepared: confirmed };
}

/** Prepares a call again after its question. Throws a `ToolFailure` if it is no longer what was approved. */
async function confirm(run: GateRun, call: Round, prepared: PreparedCall): Promise<PreparedCall> {
  const { name, runtime } = call.request;
  throwRecordedRefusal(run, call);
  if (prepared.isRestored && run.effects.recall("grant", call.key)) return prepared;
  await run.effects.requireLive({ ...call.key, what: `another look at ${name}`, signal: runtime.signal });
  const again = showCall(call, await prepareCall(call, prepared.checked, run.redactor), run.redactor);
  if (again.question?.digest === prepared.question?.digest) return again;
  const error = `what \`${name}\` was approved for has changed since the question`;
  throw toolFailure("changed", error, "look again and repeat the call if it is still wanted");
}

/**
 * Executes a granted call: a leaf as an effect, in a slot; one that waits for calls of its own outside of any slot and without its
 * tickets. A worker's call records itself.
 */
async function execute(run: GateRun, call: Round, grant: Grant): Promise<ToolResult> {
  const granted = grant.take();
  call.stage("past");
  const { tool, request, binding } = call;
  const { signal } = request.runtime;
  if (!isDelegating(tool)) {
    // A free slot is waited for, too: all calls of an answer are judged, and that is written, before the first executes.
    const leaveSlot = await request.takeSlot?.(signal);
    let result: ToolResult;
    try {
      result = await run.effects.perform(toEffect(run, call, granted), signal);
    } finally {
      leaveSlot?.();
    }
    if (result.ok && binding.settled) await binding.settled(granted.preparation.canonicalArgs, request.runtime);
    return result;
  }
  releaseTickets(call);
  // As a leaf waits for its slot: all calls of an answer are granted before the first begins.
  await undefined;
  const ended = recallResult(run, call);
  if (ended) return ended;
  if (isWorkerCall(call, granted)) return redeem(run, call, granted);
  const enter = (whole: PreparedCall) => redeem(run, call, whole as Granted);
  return executeCode(run, call, { granted, enter });
}

function toEffect(run: GateRun, call: Round, granted: Granted): Effect<ToolResult> {
  const { tool, request } = call;
  const { digest, preparation } = granted;
  const sideEffect = preparation.sideEffect ?? tool.sideEffect ?? true;
  const effect = { callPath: request.runtime.callPath, key: toolKey(request.keyPrefix), kind: "tool" as const };
  const record = { ...effect, digest, sideEffect, announced: false, detail: {} };
  const repeat = async () => {
    await repeatSettlement(run, call);
    await repeatQuestions(run, call);
  };
  return { record, codec: resultCodec, work: redeem.bind(undefined, run, call, granted), repeat };
}

/** The only place in the product where a tool's code is entered. A tool that does not end by itself on an abort is abandoned. */
async function redeem(run: GateRun, call: Round, granted: Granted): Promise<ToolResult> {
  const { tool, request, open } = call;
  const { runtime } = request;
  const { signal } = runtime;
  const settleQuestions = letToolAsk(run, call);
  try {
    signal.throwIfAborted();
    if (open) await abortable(open(), signal);
    const copied = orAborted(argsToExecute(call, granted), signal);
    const args = copied instanceof Promise ? await copied : copied;
    const timed = startTimeout(run, tool, runtime);
    const own = timed?.runtime ?? runtime;
    try {
      const made = tool.execute(args, own, granted.preparation.payload);
      const value = tool.settlesOnAbort ? made : orAborted(made, own.signal);
      return toResult(isPromiseLike(value) ? await value : value);
    } finally {
      timed?.stop();
      if (own.signal.aborted) await timed?.settled();
    }
  } catch (thrown) {
    if (thrown instanceof ToolInterrupted) throw thrown;
    // A recorded end is the result, although the caller was aborted since.
    if (thrown instanceof ToolFailure && isWorkerCall(call, granted)) return toRefusal(thrown);
    return failureOf(run, request, thrown);
  } finally {
    const settling = settleQuestions();
    if (settling) await settling;
  }
}

function releaseTickets({ tickets }: Round): void {
  for (const ticket of tickets) ticket.release();
}

function keyOfRound({ keyPrefix = "", runtime }: GatedCall, number: number): FactKey {
  return { callPath: runtime.callPath, key: `${keyPrefix}${number}` };
}

function recordRefusal(run: GateRun, { request, key }: Pick<Round, "request" | "key">, thrown: unknown): ToolResult {
  const refused = failureOf(run, request, thrown);
  if (!refused.ok) run.effects.record({ type: "refusal", ...key, tool: request.name, error: refused.error });
  return refused;
}

/** Rethrows errors that end the run; returns all others to the model. */
function failureOf(run: GateRun, { runtime }: GatedCall, thrown: unknown): ToolResult {
  runtime.signal.throwIfAborted();
  if (thrown instanceof PolicyStop || run.endsRun(thrown)) throw thrown;
  return toRefusal(thrown);
}
