import { codeCallPath } from "../protocol/call.ts";
import type { Fact } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { type Message, messageOfAnswer } from "../protocol/message.ts";
import { standingFacts } from "./standing.ts";

/**
 * The conversation of a recorded run's entry, its history first, as `messages` of the run's output had it. Undefined unless the entry
 * is a worker and the run ended with an answer: what else stands in a conversation cannot be gone on with.
 */
export function conversationOf(recorded: readonly Fact[]): readonly Message[] | undefined {
  const { facts } = standingFacts(recorded);
  const start = facts.find((fact) => fact.type === "run-start");
  const end = facts.findLast((fact) => fact.type === "run-end");
  const call = facts.find((fact) => fact.type === "call-start" && fact.callPath === start?.entry);
  if (!start || end?.stopReason !== "done" || call?.type !== "call-start" || call.kind !== "worker") return undefined;
  const messages: Message[] = [...(start.history ?? [])];
  let answer: Message | undefined;
  for (const fact of facts) {
    if ((fact.type !== "intent" && fact.type !== "result") || fact.kind !== "model" || fact.callPath !== start.entry) continue;
    // A request holds what was said since the one before, its answer included.
    if (fact.type === "intent") messages.push(...messagesIn(fact.detail["messages"]));
    else if (fact.outcome.type === "value" && isRecord(fact.outcome.value))
      [answer] = messagesIn([fact.outcome.value["message"]]);
  }
  const code = facts.findLast((fact) => fact.type === "call-end" && fact.callPath === codeCallPath(start.entry));
  const answered =
    code?.type === "call-end" && isRecord(code.output) && code.output["type"] === "answer" ? code.output : undefined;
  if (answered) return [...messages, ...messagesIn(answered["asked"]), messageOfAnswer(answered["output"] ?? null)];
  return answer ? [...messages, answer] : undefined;
}

function messagesIn(value: unknown): readonly Message[] {
  return Array.isArray(value) ? (value as readonly Message[]) : [];
}
