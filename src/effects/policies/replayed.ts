import type { Clock } from "../../host/host.ts";
import { noJournal } from "../../journal/journal.ts";
import type { Verdict } from "../../protocol/approval.ts";
import type { CallPath } from "../../protocol/call.ts";
import type { Fact, FactOf } from "../../protocol/fact.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { type AnswerPolicy, createAnswerer } from "../answerer.ts";
import { describeChange, findChangedInstruction, type InstructionLine } from "../describe-change.ts";
import type { EffectRecord, Effects } from "../effects.ts";
import { createRecordedPace } from "./recorded-pace.ts";
import type { RequestChanged } from "./request-changed.ts";

/**
 * A model request or a connection whose digest is not the recorded one: the program, or what it computes, is different today. Calls of
 * tools and questions are taken from the record with their digests; another call is a difference of facts.
 */
export interface Drift {
  readonly callPath: CallPath;
  readonly key: string;
  readonly kind: EffectRecord["kind"];
  /** The effect as the run would perform it today. */
  readonly today: JsonObject;
  /** In words: `main, turn 3: the instructions changed: "in English" was "in French"`. Absent if an earlier request of the call is different already. */
  readonly change?: string;
  /** The first line of the instructions that is different, where these are. */
  readonly instruction?: InstructionLine;
}

/** A call that would be allowed, asked or blocked otherwise today. Its outcome was taken from the record all the same. */
export interface ChangedVerdict {
  readonly callPath: CallPath;
  readonly tool: string;
  readonly recorded: Verdict;
  readonly today: Verdict;
}

/** The observations of a replay, in its own order. */
interface ReplayLog {
  /** The facts that the replay recorded. */
  readonly facts: Fact[];
  readonly drifts: Drift[];
  readonly verdicts: ChangedVerdict[];
}

export interface ReplayedEffects extends Effects, Readonly<ReplayLog> {}

/**
 * Answers every effect from the facts of an earlier run, and never from the world, in the recorded order. `clock` is a real one.
 */
export function createReplayedEffects(recorded: readonly Fact[], clock: Clock): ReplayedEffects {
  const log: ReplayLog = { facts: [], drifts: [], verdicts: [] };
  const live = { clock, journal: noJournal };
  return Object.freeze({ ...createAnswerer({ live, facts: recorded, policy: replayed(log, clock) }), ...log });
}

function replayed({ facts, drifts, verdicts }: ReplayLog, clock: Clock): AnswerPolicy {
  return (index, { state, record }) => {
    for (const fact of index.lost) state.spend(fact);
    const { happened, arrival, pace } = createRecordedPace(index, { clock, record });
    let isEnded = false;
    /** The rules that the run was given, by its attempts. */
    const attempts = index.recorded.flatMap((fact) =>
      fact.type === "run-start" || fact.type === "attempt" ? [fact.rules ?? []] : [],
    );
    return {
      accept: (fact) => {
        if (isEnded) return false;
        isEnded = fact.type === "run-end";
        facts.push(fact);
        happened(fact);
        return true;
      },
      answer: (effect, { intent, result, isSame }) => {
        const { callPath, key, kind, detail: today } = effect;
        if (!isSame) drifts.push({ callPath, key, kind, today, ...describeDrift(drifts, { recorded: intent, today: effect }) });
        return result?.outcome ?? { type: "interrupted" };
      },
      copy: (fact, was) =>
        fact.type === "intent" ? { ...fact, detail: { ...fact.detail, ...boundsOf(was) } } : ({ ...was, ...fact } as typeof fact),
      recall: (type, at) => (type === "call-end" ? undefined : index.find(type, at)),
      review: (fact, again) => {
        const today = attempts.map((given) => again(given));
        const verdict = today.at(-1);
        if (!verdict || today.some((one) => one?.type === fact.verdict.type)) return;
        verdicts.push({ callPath: fact.callPath, tool: fact.tool, recorded: fact.verdict, today: verdict });
      },
      knowsLimits: true,
      arrival,
      pace,
    };
  };
}

function describeDrift(earlier: readonly Drift[], change: Pick<RequestChanged, "recorded" | "today">) {
  if (earlier.some(({ callPath }) => callPath === change.today.callPath)) return {};
  const instruction = findChangedInstruction(change);
  return { change: describeChange(change), ...(instruction ? { instruction } : {}) };
}

/** The bounds of a request: they depend on what ran beside it. */
function boundsOf(was: FactOf<"intent"> | FactOf<"result"> | undefined): JsonObject {
  const { allowance, reserved } = was?.type === "intent" ? was.detail : {};
  return { ...(allowance === undefined ? {} : { allowance }), ...(reserved === undefined ? {} : { reserved }) };
}
