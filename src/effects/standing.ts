import type { CallPath } from "../protocol/call.ts";
import type { Fact, FactOf, FactPlace, PlacedFactType } from "../protocol/fact.ts";
import { questionOf } from "./keys.ts";

/** The record of a run as it holds now. */
export interface StandingFacts {
  /** In their order: of each id the last one, unless it is void. Of revocations all. */
  readonly facts: readonly Fact[];
  /** All others, in their order. They answer nothing; what they spent counts. */
  readonly lost: readonly Fact[];
  /** The latest continuation; undefined if there is none. */
  readonly attempt: FactOf<"attempt"> | undefined;
}

/** The identity of a fact in its run. Two facts of one id say the same thing at two times: the later one holds. */
export function idOf(fact: Fact): string {
  return [fact.type, "callPath" in fact ? fact.callPath : "", "key" in fact ? fact.key : ""].join("\n");
}

/** Finds the fact of a type at a place; the last one where there are several. */
export type FindFact = <Type extends PlacedFactType>(type: Type, at: FactPlace) => FactOf<Type> | undefined;

export function createFinder(facts: readonly Fact[]): FindFact {
  const known = new Map(facts.map((fact) => [idOf(fact), fact]));
  return <Type extends PlacedFactType>(type: Type, { callPath, key = "" }: FactPlace) =>
    known.get(`${type}\n${callPath}\n${key}`) as FactOf<Type> | undefined;
}

/** An index of the facts of an earlier run. */
export interface FactIndex extends StandingFacts {
  /** All of them, each at its number. */
  readonly recorded: readonly Fact[];
  /** Finds facts that stand. */
  readonly find: FindFact;
  /** Paths of the calls with facts that stand. */
  readonly paths: ReadonlySet<CallPath>;
}

export function indexFacts(recorded: readonly Fact[]): FactIndex {
  const standing = standingFacts(recorded);
  const paths = new Set(standing.facts.flatMap((fact) => ("callPath" in fact ? [fact.callPath] : [])));
  return { recorded, ...standing, find: createFinder(standing.facts), paths };
}

/** Separates what holds of a run's facts from what a continuation voided or a later fact replaced. */
export function standingFacts(recorded: readonly Fact[]): StandingFacts {
  const voids = new Set(recorded.flatMap((fact) => (fact.type === "attempt" ? fact.voids : [])));
  // A void fact takes every earlier fact of its id with it: a question that was put twice does not come back by its first time.
  const latest = new Map(recorded.map((fact, index) => [idOf(fact), index] as const));
  for (const [id, index] of latest) if (voids.has(index)) latest.delete(id);
  /** True for a question that was open when an attempt ended, and was settled without being asked in a later one. */
  const isUnasked = (fact: Fact, index: number) => {
    if (fact.type !== "intent" || fact.kind !== "question") return false;
    const { callPath, key } = fact;
    const comesLater = (id: readonly unknown[]) => (latest.get(id.join("\n")) ?? -1) > index;
    return !comesLater(["result", callPath, key]) && comesLater(["decision", callPath, questionOf(fact)]);
  };
  const lastAttempt = recorded.findLastIndex((fact) => fact.type === "attempt");
  /** True for a request of an earlier attempt whose outcome was lost, or is void: it was not made again. */
  const isLostRequest = (fact: Fact, index: number) =>
    fact.type === "intent" &&
    fact.kind === "model" &&
    index < lastAttempt &&
    (latest.get(["result", fact.callPath, fact.key].join("\n")) ?? -1) < index;
  /** True for a grant that its verdict says already: earlier versions recorded one for each call that was allowed. */
  const isRepeated = (fact: Fact) => {
    if (fact.type !== "grant") return false;
    const verdict = recorded[latest.get(idOf({ ...fact, type: "verdict" } as Fact)) ?? -1];
    return verdict?.type === "verdict" && verdict.verdict.type === "allowed";
  };
  const stands = (fact: Fact, index: number) => {
    if (fact.type === "attempt" || fact.type === "undo" || voids.has(index)) return false;
    if (isUnasked(fact, index) || isRepeated(fact) || isLostRequest(fact, index)) return false;
    return fact.type === "revocation" || latest.get(idOf(fact)) === index;
  };
  return {
    facts: recorded.filter(stands),
    lost: recorded.filter((fact, index) => !stands(fact, index)),
    attempt: recorded.findLast((fact) => fact.type === "attempt"),
  };
}
