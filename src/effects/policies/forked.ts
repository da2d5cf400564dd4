import { type CallPath, isAtOrBelow } from "../../protocol/call.ts";
import type { Fact } from "../../protocol/fact.ts";
import { noUsage } from "../../protocol/usage.ts";
import type { AnswerPolicy } from "../answerer.ts";
import { idOf } from "../standing.ts";
import { createKnownRounds } from "./known-rounds.ts";

/**
 * Begins a run with the outcomes of another one, which it records as its own, marked `shared`: they are not charged. A model request
 * gets its recorded answer also where it is different today, since the program is what a fork changes. Everything else is as
 * in a run that goes on. The last of the shared facts is an `attempt` that says which of them answer nothing.
 *
 * `entry`: the path of the entry, where it begins with another input. Default: it begins with the recorded one.
 */
export function forked(entry?: CallPath): AnswerPolicy {
  return ({ recorded, facts, paths, ...index }, { state, record }) => {
    for (const fact of recorded) state.reserve(fact);
    const { recall, has, begun } = createKnownRounds({ recorded, facts, paths, ...index });
    const fresh = new Set<CallPath>();
    const taken = new Set<string>();
    /** Takes over all that is recorded of a call that ended: it is not entered. */
    const copyCall = (callPath: CallPath): void => {
      for (const fact of facts) {
        if (!("callPath" in fact) || taken.has(idOf(fact))) continue;
        if (isAtOrBelow(fact.callPath, callPath)) record(asShared(fact));
      }
    };
    return {
      accept: (fact, isPerformed) => {
        if (isPerformed) return true;
        taken.add(idOf(fact));
        has(fact);
        return true;
      },
      answer: ({ callPath, kind }, { result, isSame }) => {
        const answers = kind !== "connect" && (isSame || kind === "model");
        if (result && result.outcome.type !== "interrupted" && answers) return result.outcome;
        fresh.add(callPath);
        return undefined;
      },
      copy: asShared,
      recall: (type, at) => {
        if (type === "call-start" && at.callPath === entry) return undefined;
        const fact = recall(type, at);
        if (fact && type === "call-end") copyCall(at.callPath);
        return fact;
      },
      begun,
      isReplayed: (callPath) => paths.has(callPath) && !fresh.has(callPath),
    };
  };
}

function asShared(fact: Fact): Fact {
  if (fact.type === "result") return { ...fact, shared: true };
  return fact.type === "call-end" ? { ...fact, usage: noUsage } : fact;
}
