import { type CallPath, isAtOrBelow } from "../../protocol/call.ts";
import type { FactOf } from "../../protocol/fact.ts";
import { isRecord } from "../../protocol/json.ts";
import type { AnswerPolicy } from "../answerer.ts";
import type { FactIndex } from "../standing.ts";
import { createKnownRounds } from "./known-rounds.ts";
import { RequestChanged } from "./request-changed.ts";

/**
 * Goes on with a recorded run: an effect whose outcome stands is answered from the record, every other one from the world, and
 * recorded. What is recorded already is not recorded again. The last fact is the `attempt` of this continuation; `times` say when each
 * was recorded.
 */
export function resumed(times: readonly number[]): AnswerPolicy {
  return (record, { state }) => {
    const standing = new Set(record.facts);
    for (const fact of record.recorded) (standing.has(fact) ? state.apply : state.spend)(fact);
    const { recall, has, begun } = createKnownRounds(record);
    const [start] = record.recorded;
    const entry = start?.type === "run-start" ? start.entry : "";
    /** Calls with facts of this attempt. */
    const fresh = new Set<CallPath>();
    return {
      accept: (fact, isPerformed) => {
        if (!isPerformed && has(fact)) return false;
        if (fact.type === "result" && fact.kind === "connect" && offersSame(fact, record.find("result", fact))) return false;
        if (fact.type === "run-end") fresh.add(entry);
        if ("callPath" in fact) fresh.add(fact.callPath);
        return true;
      },
      answer: (effect, { intent, result, isSame }) => {
        const { kind } = effect;
        // A connection does not outlive its process. Definitions that differ make a request differ.
        if (!result || result.outcome.type === "interrupted" || kind === "connect") return undefined;
        if (isSame) return result.outcome;
        if (kind === "question" || kind === "tool") return undefined;
        throw new RequestChanged(intent, effect);
      },
      recall,
      begun,
      isReplayed: (callPath) => record.paths.has(callPath) && !fresh.has(callPath),
      elapsed: (callPath) => elapsed(record, times, callPath),
    };
  };
}

/** True for a connection that was made again and offers what it did: its record stays where it is. */
function offersSame({ outcome }: FactOf<"result">, known: FactOf<"result"> | undefined): boolean {
  const [today, before] = [outcome, known?.outcome].map((one) =>
    one?.type === "value" && isRecord(one.value) ? one.value["fingerprint"] : undefined,
  );
  return today !== undefined && today === before;
}

/**
 * The recorded time of a call and everything below it, in milliseconds. The time between two attempts is none of it, nor
 * the time before an answer in which nothing else was recorded.
 */
function elapsed({ recorded }: FactIndex, times: readonly number[], callPath: CallPath): number {
  let sum = 0;
  let first: number | undefined;
  for (const [index, fact] of recorded.entries()) {
    const time = times[index] ?? 0;
    if (fact.type === "attempt") first = undefined;
    if (fact.type === "answer") continue;
    if (!("callPath" in fact) || !isAtOrBelow(fact.callPath, callPath)) continue;
    const isAnswered = fact.type === "result" && fact.kind === "question";
    if (first !== undefined && !isAnswered) sum += time - first;
    first = time;
  }
  return sum;
}
