import type { ApprovalDecision, ApprovalRequest, DeniedCall } from "../../protocol/approval.ts";
import type { FactKey } from "../../protocol/fact.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { toolFailure } from "../../toolsets/toolset.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { copyJson } from "../../util/json/plain-json.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { GateRun } from "../gate-types.ts";
import {
  type CheckedArgs,
  checkArgs,
  contentOf,
  describeCall,
  type PendingCall,
  type PreparedCall,
  placesOf,
  toRuledCall,
} from "../pending-call.ts";
import { allowLine } from "../rules/allow-line.ts";
import { createRememberedApprovals } from "../rules/remembered-approvals.ts";
import { proposeRules } from "../rules/run-rules.ts";
import { type DecideOptions, decide, type SettledQuestion } from "./decide.ts";
import type { StageReport } from "./question-queue.ts";
import { recordDecision } from "./record-decision.ts";

export interface Asking extends FactKey {
  readonly prepared: PreparedCall;
  readonly why: string;
  /** No rule says that the call asks, so an author may pre-approve it. */
  readonly isUnstated: boolean;
  readonly stage: StageReport;
}

/** Settles a call whose verdict is ask, and records how. A policy that stops the run stops it before the next question comes up. */
export async function askApprover(run: GateRun, call: PendingCall, asking: Asking): Promise<ApprovalDecision> {
  const { name: tool, runtime } = call.request;
  const { callPath, key, prepared, isUnstated, stage } = asking;
  // A rule for the run would hold for a worker that a model made, which nobody could read when the rule was given.
  const isRuled = isUnstated && !prepared.isRestored && !call.request.caller.creators;
  const ruled = isRuled ? toRuledCall(call, prepared) : undefined;
  if (ruled) run.asked.push(ruled);
  const { decision } = await decide(
    { callPath, key, ...describeQuestion(run, call, asking), ...(ruled ? { ruled } : {}) },
    {
      ...policyFor(run, call),
      effects: run.effects,
      redactor: run.redactor,
      questions: run.questions,
      activity: run.activity,
      earlier: run.asked,
      memory: createRememberedApprovals(run.effects.state, {
        hide: (value) => run.redactor.hideKnown(value).shown,
        onRevoke: ({ worker, tool: revoked, memory }) =>
          run.effects.record({ type: "revocation", callPath, worker, tool: revoked, memory }),
      }),
      checkArgs: (edited) => problemOf(run, call, edited),
      signal: runtime.signal,
      stage,
      onAsk: (request) => run.emit(runtime, { type: "approval-request", request }),
      onStale: () =>
        run.emit(runtime, {
          type: "warning",
          message: `\`${tool}\` (${callPath}) was answered, and has changed since: it asks again`,
        }),
      onDecided: (settled) =>
        recordDecision(run, call, {
          ...{ callPath, key, tool, ...settled },
          describeDenial: () => describeDenial(run, call, { ...asking, ...settled }),
          endsRun: settled.decision.type === "stop" || (settled.decision.type === "deny" && run.policy.onDenied === "stop"),
        }),
    },
  );
  runtime.signal.throwIfAborted();
  return decision;
}

/** A connection that keeps state would lose it while the run is suspended. */
function policyFor({ policy }: GateRun, { binding }: PendingCall): Pick<DecideOptions, "policy" | "whyUnasked"> {
  if (policy.onUnanswered !== "hold" || !binding.toolset.session) return { policy };
  const whyUnasked = "its connection keeps state, which would be lost while the run waits for an answer";
  return { policy: { ...policy, onUnanswered: "deny" }, whyUnasked };
}

/** As the approver sees it, and as memory knows it. A call that is restored from a record has its question there. */
function describeQuestion(run: GateRun, call: PendingCall, { prepared, why }: Asking) {
  const { name: tool, caller, runtime } = call.request;
  const { callPath } = runtime;
  const { canonicalArgs: args } = prepared.preparation;
  const { reference } = call.binding;
  const { name: worker, id: callerId } = caller;
  const { digest, description, preview } = prepared.question ?? { digest: prepared.digest, description: "" };
  const whole = { runId: run.runId, callPath, worker, tool, args, description, why, ...(preview ? { preview } : {}) };
  return {
    digest,
    question: toQuestion(run, whole),
    call: { worker, callerId, reference, tool, args, why, content: contentOf(prepared), places: placesOf(call) },
  };
}

/** As an approver may see it. What is not shown in full cannot be remembered: this is the one place that decides it. */
function toQuestion(run: GateRun, whole: Omit<ApprovalRequest, "position" | "canRemember" | "notShown">) {
  const { shown, hidden } = run.redactor.hideKnown(whole);
  const omitted = whole.preview?.type === "text" ? whole.preview.omits : undefined;
  const notShown = [...hidden.map((name) => `the value of ${name}`), ...(omitted === undefined ? [] : [omitted])].join(", ");
  return notShown === "" ? { ...shown, canRemember: true } : { ...shown, notShown, canRemember: false };
}

function describeDenial(
  run: GateRun,
  call: PendingCall,
  { prepared, decision, source, isUnstated }: Asking & SettledQuestion,
): DeniedCall {
  const { name: tool, caller, runtime } = call.request;
  const { callPath } = runtime;
  const { name: worker } = caller;
  const { note } = decision;
  const description = run.redactor.json(describeCall(call, prepared));
  const ways = isUnstated ? waysToAllow(run, call, prepared) : {};
  return { callPath, worker, tool, description, source, ...(note === undefined ? {} : { note }), ...ways };
}

/** A rule, and a line of the worker's file; but no file can pre-approve what code calls. */
function waysToAllow(run: GateRun, call: PendingCall, prepared: PreparedCall): Pick<DeniedCall, "allow" | "rule"> {
  const { binding, tool, request } = call;
  const rule = narrowRule(run, call, prepared) ?? `${request.caller.name}/${request.name}`;
  const written = request.via ?? { reference: binding.reference, tool };
  return binding.fromCode ? { rule } : { rule, allow: allowLine(written.reference, written.tool.name) };
}

/** The narrowest rule that allows more than the same call again: for what is in the same folder, or begins with the same words. */
function narrowRule({ redactor }: GateRun, call: PendingCall, prepared: PreparedCall): string | undefined {
  const { name, creators } = call.request.caller;
  if (creators) return undefined;
  const [exact, wider = exact] = proposeRules(toRuledCall(call, prepared), name, []);
  if (!wider || redactor.hideKnown(wider.rule).hidden.length > 0) return undefined;
  return canBePasted.test(wider.rule) ? wider.rule : undefined;
}

/** Between single quotes of a shell. */
const canBePasted = /^[ -&(-~]+$/;

/** The arguments as a person edited them; undefined if they are unchanged. */
export async function editedArgs(
  run: GateRun,
  call: PendingCall,
  { decision, prepared }: { readonly decision: ApprovalDecision; readonly prepared: PreparedCall },
): Promise<CheckedArgs | undefined> {
  const args = decision.type === "approve" ? decision.args : undefined;
  if (!args || canonicalJson(args) === canonicalJson(run.redactor.hideKnown(prepared.view.args).shown)) return undefined;
  return checkEdited(call, args);
}

function checkEdited(call: PendingCall, args: JsonObject): CheckedArgs | Promise<CheckedArgs> {
  if (JSON.stringify(args).includes("⟦secret:")) {
    throw toolFailure("invalid_arguments", "the edited arguments hold a secret that was hidden from whoever edited them");
  }
  // An approver's value can be changed afterwards, or have accessors.
  return checkArgs(call, copyJson(args));
}

/** Why edited arguments would be refused, for whoever edits them. */
async function problemOf(run: GateRun, call: PendingCall, args: JsonObject): Promise<string | undefined> {
  try {
    await checkEdited(call, args);
    return undefined;
  } catch (thrown) {
    return run.redactor.hideKnown(errorMessage(thrown)).shown;
  }
}
