import { type CallPath, parentCallPath, withCallers } from "../protocol/call.ts";
import type { Fact, FactOf } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { againKey, questionOf, runTimeKey } from "./keys.ts";
import { standingFacts } from "./standing.ts";

type Numbered<T extends Fact = Fact> = T & { readonly n: number };

/**
 * The numbers of the entries that answer nothing when a run goes on: how it ended, what unwound, and the request that it failed with.
 * What a completed side effect followed from stays. `recorded` are all facts of the run, each at its number.
 */
export function voidsOf(recorded: readonly Fact[]): readonly number[] {
  const standing = new Set(standingFacts(recorded).facts);
  const facts = recorded.flatMap((fact, n) => (standing.has(fact) ? [{ ...fact, n }] : [])) as Numbered[];
  const end = facts.findLast((fact) => fact.type === "run-end");
  const ended = new Set(facts.flatMap((fact) => (isValue(fact) && !isOutage(fact, facts) ? [fact.callPath] : [])));
  const voids = new Set(facts.filter((fact) => isUnwound(fact, ended) || isFailure(fact, facts, ended)).map(({ n }) => n));
  for (const { n } of unsettledQuestions(facts, voids)) voids.add(n);
  for (const n of lastAnswerOf(facts, end)) voids.add(n);
  if (end?.stopReason === "limit") for (const n of afterLimits(facts)) voids.add(n);
  return [...voids].sort((a, b) => a - b);
}

function isUnwound(fact: Fact, ended: ReadonlySet<CallPath>): boolean {
  if (fact.type === "run-end") return true;
  if (fact.type === "abort") return !ended.has(fact.callPath);
  if (fact.type === "result") return fact.outcome.type === "interrupted";
  if (fact.type === "limit") return fact.key === runTimeKey;
  if (fact.type === "checked") return fact.skipped !== undefined;
  return fact.type === "call-end" && !ended.has(fact.callPath);
}

/** True for an end that the caller got something of. */
function isValue<T extends Fact>(fact: T): fact is T & FactOf<"call-end"> {
  if (fact.type !== "call-end") return false;
  const { stopReason, output, error, result } = fact;
  if (result !== undefined) return true;
  if (error) return isRecord(error["failure"]);
  return output !== undefined && stopReason !== "aborted" && stopReason !== "failed";
}

/** True for a call that its provider failed, and whose caller, a worker, did nothing with that: no later answer of its model is recorded. */
function isOutage({ error, callPath, n }: Numbered<FactOf<"call-end">>, facts: readonly Numbered[]): boolean {
  const failure = error?.["failure"];
  const caller = parentCallPath(callPath);
  if (caller === undefined || !isRecord(failure) || failure["type"] !== "provider") return false;
  const isOfWorker = facts.some((fact) => fact.type === "call-start" && fact.callPath === caller && fact.kind === "worker");
  return isOfWorker && !facts.some((fact) => fact.n > n && isAnswerIn(fact, caller));
}

/**
 * A failure that ended its call, and with it the run: scopes that could not be opened, a connection, a request of a turn that never got
 * its answer. All of it is tried again.
 */
function isFailure(fact: Fact, facts: readonly Fact[], ended: ReadonlySet<CallPath>): boolean {
  if (fact.type === "refusal") return fact.key === "scopes" && !ended.has(fact.callPath);
  if (fact.type !== "result" || fact.outcome.type !== "error" || ended.has(fact.callPath)) return false;
  if (fact.kind !== "model") return fact.kind === "connect";
  const turn = fact.key.slice(0, fact.key.indexOf(".") + 1);
  return !facts.some((other) => isAnswerIn(other, fact.callPath) && (other as FactOf<"result">).key.startsWith(turn));
}

function isAnswerIn(fact: Fact, callPath: CallPath): boolean {
  return fact.type === "result" && fact.kind === "model" && fact.callPath === callPath && fact.outcome.type === "value";
}

/**
 * Questions that are put again. With one goes all that came of it, its decision and every answer that was given to it: those whose decision
 * stopped the run, and those whether a call is repeated, of which each holds for one repetition, and only where a person settled it. A
 * repetition that came to its end keeps its question. `voids` are the numbers of facts that the attempt voids besides.
 */
function unsettledQuestions(facts: readonly Numbered[], voids: ReadonlySet<number>): readonly Numbered[] {
  const unsettled = new Set<string>();
  for (const fact of facts) {
    const key = questionOf(fact);
    if (key !== undefined && (isStop(fact) || (key.endsWith(againKey("")) && isSpent(fact, facts, voids))))
      unsettled.add(idOf(fact, key));
  }
  return facts.filter((fact) => unsettled.has(idOf(fact, questionOf(fact))));
}

function idOf(fact: Fact, key: string | undefined): string {
  return `${"callPath" in fact ? fact.callPath : ""}\n${key}`;
}

function isStop(fact: Fact): boolean {
  return fact.type === "decision" && fact.stops === true;
}

/** True for an answer that no person gave, and for one after which the call began again and did not come to its end. */
function isSpent(fact: Numbered, facts: readonly Numbered[], voids: ReadonlySet<number>): boolean {
  if (fact.type !== "decision" && fact.type !== "result") return false;
  if (fact.type === "decision" && fact.source !== "person") return true;
  const after = facts.filter(
    (other) => other.n > fact.n && "callPath" in other && other.callPath === fact.callPath && !voids.has(other.n),
  );
  const isTool = (other: Fact) => (other.type === "intent" || other.type === "result") && other.kind === "tool";
  const began = after.some((other) => other.type === "call-start" || (other.type === "intent" && isTool(other)));
  return began && !after.some((other) => other.type === "call-end" || (other.type === "result" && isTool(other)));
}

/** An answer of the entry that could not be used, or was cut off: it is asked for again. */
function lastAnswerOf(facts: readonly Numbered[], end: FactOf<"run-end"> | undefined): readonly number[] {
  const code = end?.error?.["code"];
  if (!end || (code !== "output_invalid" && code !== "refused" && end.stopReason !== "cut")) return [];
  const entry = entryOf(facts);
  const answer = facts.findLast((fact) => isAnswerIn(fact, entry));
  return facts.flatMap((fact) => {
    const isEnd = fact.type === "call-end" && fact.callPath === entry;
    return fact === answer || isEnd ? [fact.n] : [];
  });
}

/**
 * Where a limit of the run or of the entry ended the run: what came of it, in each call that met it and in those above, so that a
 * raised limit lets them go on. A call stays as it ended where something happened after it that cannot be taken back.
 */
function afterLimits(facts: readonly Numbered[]): ReadonlySet<number> {
  const entry = entryOf(facts);
  const met = facts.filter(
    (fact): fact is Numbered<FactOf<"limit" | "intent">> =>
      (fact.type === "limit" && (fact.owner === undefined || fact.owner === entry)) ||
      (fact.type === "intent" && fact.callPath === entry && fact.key.endsWith(" last")),
  );
  const voids = new Set<number>();
  for (const limit of met) {
    const after = afterLimit(facts, limit);
    if (!facts.some((fact) => after.has(fact.n) && cannotBeRepeated(fact, facts))) for (const n of after) voids.add(n);
  }
  return voids;
}

function afterLimit(facts: readonly Numbered[], { callPath, n }: Numbered<FactOf<"limit" | "intent">>): ReadonlySet<number> {
  const chain = new Set([...withCallers(callPath)]);
  const later = facts.filter((fact) => fact.n >= n && "callPath" in fact && chain.has(fact.callPath) && comesOfTurns(fact));
  const voids = new Set(later.map((fact) => fact.n));
  for (const path of chain) {
    if (!later.some((fact) => isAnswerIn(fact, path))) continue;
    const first = facts.filter((fact) => fact.n < n && isAnswerIn(fact, path)).reduce((sum, fact) => sum + ordinalsOf(fact), 0);
    for (const fact of facts) if ("callPath" in fact && ordinalBelow(path, fact.callPath) >= first) voids.add(fact.n);
  }
  return voids;
}

function comesOfTurns(fact: Fact): boolean {
  if (fact.type === "intent" || fact.type === "result") return fact.kind === "model";
  return fact.type === "limit" || fact.type === "call-end" || fact.type === "artifact";
}

/** A side effect, an answer of a person, or the end of code. */
function cannotBeRepeated(fact: Numbered, facts: readonly Numbered[]): boolean {
  if (fact.type === "decision") return true;
  if (fact.type === "intent") return fact.kind === "tool";
  if (fact.type !== "call-end") return false;
  const start = facts.find((other) => other.type === "call-start" && other.callPath === fact.callPath);
  return start?.type === "call-start" && start.kind !== "worker";
}

/** How many ordinals of call paths the calls of an answer took. */
function ordinalsOf(fact: Fact): number {
  const value = fact.type === "result" && fact.outcome.type === "value" ? fact.outcome.value : undefined;
  const message = isRecord(value) ? value["message"] : undefined;
  const parts = isRecord(message) && Array.isArray(message["parts"]) ? message["parts"] : [];
  const isCut = isRecord(value) && (value["finish"] === "length" || value["finish"] === "context-window");
  return parts.filter(({ type }) => type === "server-call" || (type === "tool-call" && !isCut)).length;
}

/** The ordinal of the child of `path` that a call is, or lies below; -1 where it does not. */
function ordinalBelow(path: CallPath, callPath: CallPath): number {
  return callPath.startsWith(`${path}/`) ? Number.parseInt(callPath.slice(path.length + 1), 10) : -1;
}

function entryOf(facts: readonly Fact[]): CallPath {
  const start = facts.find((fact) => fact.type === "run-start");
  return start?.type === "run-start" ? start.entry : "";
}
