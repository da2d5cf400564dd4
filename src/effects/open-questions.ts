import type { ApprovalRequest, OpenQuestion } from "../protocol/approval.ts";
import { type CallPath, comparePaths, parentCallPath, withCallers } from "../protocol/call.ts";
import type { Fact, FactOf, KeyedFactType } from "../protocol/fact.ts";
import { recordsIn } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { sha256 } from "../util/sha256.ts";
import { againKey, questionKey } from "./keys.ts";
import { standingFacts } from "./standing.ts";

/** Names a question, and exactly what it asked about: another look that found something else has another id. */
export function questionId({ callPath, key, digest }: Pick<OpenQuestion, "callPath" | "key" | "digest">): string {
  return sha256(`${callPath}\n${key}\n${digest}`).slice(0, 12);
}

/** Shows a call as each question about it does: an answer holds for this alone. */
export function shownIn({ position: _, rules: __, ...shown }: Partial<ApprovalRequest>): Partial<ApprovalRequest> {
  return shown;
}

/** The questions of a run that nobody has settled, in the order of their call paths. */
export function openQuestions(recorded: readonly Fact[]): readonly OpenQuestion[] {
  const { facts } = standingFacts(recorded);
  const asked = new Set<string>();
  const settled = new Map<string, number>();
  const ended = new Set<CallPath>();
  const answers = new Map<string, FactOf<"answer">>();
  for (const [index, fact] of facts.entries()) {
    if (fact.type === "call-end") ended.add(fact.callPath);
    if (fact.type === "answer") answers.set(idOf(fact), fact);
    if (fact.type === "verdict" && fact.verdict.type === "ask") asked.add(idOf(fact));
    if (isSettling(fact)) settled.set(idOf(fact), index);
  }
  const open = facts.flatMap((fact, index): readonly OpenQuestion[] => {
    if (fact.type !== "intent" || fact.kind !== "question") return [];
    const { callPath, digest, detail } = fact;
    const key = fact.key.slice(questionKey("").length);
    const id = idOf({ callPath, key });
    // A question of a server that a tool calls ends with the tool.
    if (!asked.has(id) && !key.endsWith(againKey(""))) return [];
    // A question that asks again about what has changed comes after what settled the last one.
    const isSettled = [id, idOf(fact)].some((one) => (settled.get(one) ?? -1) > index);
    if (isSettled || [...withCallers(callPath)].some((path) => ended.has(path))) return [];
    const answer = answers.get(id);
    const isStale = answer && answer.digest !== digest;
    const given = isStale ? { isChanged: true as const } : answer ? { answer: answer.decision } : {};
    const request = detail["request"] as unknown as ApprovalRequest;
    return [{ id: questionId({ callPath, key, digest }), callPath, key, digest, request, ...given }];
  });
  return inOrder(open);
}

/** The schema of a tool's arguments, as the model that made the call was told it last; undefined for a call of code. */
export function askedSchema(recorded: readonly Fact[], { callPath, request }: OpenQuestion): JsonSchema | undefined {
  const caller = parentCallPath(callPath);
  const asked = standingFacts(recorded).facts.findLast(
    (fact): fact is FactOf<"intent"> => fact.type === "intent" && fact.kind === "model" && fact.callPath === caller,
  );
  return recordsIn(asked?.detail["tools"]).find(({ name }) => name === request.tool)?.["inputSchema"] as JsonSchema | undefined;
}

/** Parallel calls ask in an order that differs from run to run; the number of a question should not. */
export function inOrder(questions: readonly OpenQuestion[]): readonly OpenQuestion[] {
  return questions.toSorted((one, other) => comparePaths(one.callPath, other.callPath));
}

function isSettling(fact: Fact): fact is FactOf<KeyedFactType> {
  if (fact.type === "verdict") return fact.verdict.type !== "ask";
  return fact.type === "decision" || fact.type === "refusal" || fact.type === "result";
}

function idOf({ callPath, key }: { readonly callPath: CallPath; readonly key: string }): string {
  return `${callPath}\n${key}`;
}
