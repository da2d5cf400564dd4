import { questionKey } from "../../effects/keys.ts";
import type { FactKey } from "../../protocol/fact.ts";
import type { JsonObject } from "../../protocol/json.ts";
import {
  answerProblem,
  emptyAnswer,
  type ForeignAnswer,
  type ForeignQuestion,
  filledIn,
  previewQuestion,
} from "../../toolsets/foreign-question.ts";
import { allowQuestions } from "../../toolsets/timed-runtime.ts";
import type { GateRun } from "../gate-types.ts";
import type { PendingCall } from "../pending-call.ts";
import { createRememberedApprovals } from "../rules/remembered-approvals.ts";
import { type DecideOptions, decide, type SettledQuestion } from "./decide.ts";
import { recordDecision } from "./record-decision.ts";

/*
 * Questions of somebody whom a tool calls. They come up while the tool executes, so they are facts within its effect: a replay, which
 * does not enter the tool, repeats them between the intent and the outcome of the effect.
 */

/** The name that these questions have in the place of a tool's. */
const tool = "elicit";
/** A server that asks more often in one call is not listened to. */
const maxQuestions = 10;

/**
 * Lets the tool of a call ask the user, one question at a time. Returns a function for the end of the tool's work, which resolves when all
 * questions are settled, so that each lies within the effect; it returns undefined if none was asked.
 */
export function letToolAsk(run: GateRun, call: PendingCall): () => Promise<unknown> | undefined {
  let count = 0;
  let isOver = false;
  let previous: Promise<unknown> | undefined;
  allowQuestions(call.request.runtime, async (question) => {
    const number = count + 1;
    if (isOver || number > maxQuestions) return { type: "declined" };
    count = number;
    const answer = (previous ?? Promise.resolve()).then(() => ask(run, call, { question, key: keyOf(call, number) }));
    previous = answer.catch(() => undefined);
    return answer;
  });
  return () => {
    isOver = true;
    return previous;
  };
}

function keyOf({ request }: PendingCall, number: number): FactKey {
  return { callPath: request.runtime.callPath, key: `${request.keyPrefix ?? ""}${tool} ${number}` };
}

interface Asking {
  readonly question: ForeignQuestion;
  readonly key: FactKey;
}

/** No mode answers for a person. */
async function ask(run: GateRun, call: PendingCall, { question, key }: Asking): Promise<ForeignAnswer> {
  const { mode, approver } = run.policy;
  if (mode !== "prompt" || !approver) {
    report(run, call, { ...key, decision: { type: "deny", note: "nobody can be asked in this run" }, source: "nobody" });
    return { type: "declined" };
  }
  const { runtime, caller } = call.request;
  const args = emptyAnswer(question.fields);
  const why = `${question.from} asks, while \`${call.request.name}\` runs`;
  const shown = {
    ...{ runId: run.runId, callPath: key.callPath, worker: caller.name, tool, args, why },
    description: `Answer a question of ${question.from}`,
    preview: previewQuestion(question),
  } as const;
  const digest = run.redactor.digest(question);
  const { decision } = await decide(
    {
      ...{ ...key, digest, question: { ...run.redactor.hideKnown(shown).shown, canRemember: false } },
      // Denials are counted for the same question.
      call: { ...{ worker: caller.name, callerId: caller.id, tool, args, why }, reference: digest, content: { now: null } },
    },
    { ...optionsOf(run, call, key), checkArgs: async (values) => answerProblem(question.fields, values) },
  );
  runtime.signal.throwIfAborted();
  return toAnswer(run, call, { question, values: decision.type === "approve" ? (decision.args ?? args) : undefined });
}

interface GivenAnswer {
  readonly question: ForeignQuestion;
  /** Undefined if the user declined. */
  readonly values: JsonObject | undefined;
}

function toAnswer(run: GateRun, { request }: PendingCall, { question, values }: GivenAnswer): ForeignAnswer {
  if (!values) return { type: "declined" };
  const hidden = JSON.stringify(values).includes("⟦secret:") ? "a secret is hidden in it" : undefined;
  const problem = hidden ?? answerProblem(question.fields, values);
  if (problem === undefined) return { type: "answered", values: filledIn(values) };
  run.emit(request.runtime, { type: "warning", message: `${question.from} gets no answer: ${problem}` });
  return { type: "declined" };
}

function optionsOf(run: GateRun, call: PendingCall, key: FactKey): DecideOptions {
  const { policy, effects, redactor, questions, activity } = run;
  const { runtime } = call.request;
  const memory = createRememberedApprovals(effects.state, {
    hide: (value) => redactor.hideKnown(value).shown,
    onRevoke: ({ worker, tool: revoked, memory: id }) =>
      effects.record({ type: "revocation", callPath: key.callPath, worker, tool: revoked, memory: id }),
  });
  return {
    ...{ policy, effects, redactor, questions, activity, memory, earlier: [], signal: runtime.signal },
    checkArgs: async () => undefined,
    // The call itself is past its verdict.
    stage: () => undefined,
    onAsk: (request) => run.emit(runtime, { type: "approval-request", request }),
    onDecided: (settled) => report(run, call, { ...key, ...settled }),
  };
}

/** A declined answer is no denial of a call. An approver who says stop ends the run here, too. */
function report(run: GateRun, call: PendingCall, { callPath, key, decision, source, memory }: FactKey & SettledQuestion): void {
  recordDecision(run, call, {
    ...{ callPath, key, tool, decision, source, ...(memory === undefined ? {} : { memory }) },
    endsRun: decision.type === "stop",
  });
}

/** Brings up the recorded questions of a call again, for a replay that takes the outcome of its tool from the record. */
export async function repeatQuestions(run: GateRun, call: PendingCall): Promise<void> {
  const { effects } = run;
  for (let number = 1; ; number++) {
    const key = keyOf(call, number);
    const intent = effects.recall("intent", { ...key, key: questionKey(key.key) });
    if (!intent && !effects.recall("decision", key)) return;
    const question = {
      runId: "",
      worker: "",
      tool,
      args: {},
      description: "",
      why: "",
      canRemember: false,
      callPath: key.callPath,
    };
    const asked = { worker: "", tool, args: {}, reference: "", why: "", content: { now: null } };
    await decide({ ...key, digest: intent?.digest ?? "", question, call: asked }, optionsOf(run, call, key));
  }
}
