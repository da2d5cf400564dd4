import type { CallPath } from "../../protocol/call.ts";
import type { Fact, FactOf } from "../../protocol/fact.ts";
import { questionOf, toolKey } from "../keys.ts";
import { createFinder, type FindFact, standingFacts } from "../standing.ts";

/**
 * Returns what happened in a run whose record came from elsewhere, for a record that is believed: requests, answers of models, results of
 * tools, and ends. Left out is what somebody decided or allowed: answers, approvals and rules, options, created workers, and what was
 * found out about calls that have no end. Those calls are looked at, and asked for, when the run goes on. Empty for a record without a
 * beginning.
 */
export function adoptedFacts(recorded: readonly Fact[]): readonly Fact[] {
  const { facts } = standingFacts(recorded);
  const [start] = facts;
  if (start?.type !== "run-start") return [];
  const find = createFinder(facts);
  const ended = new Set(facts.flatMap((fact) => (fact.type === "call-end" ? [fact.callPath] : [])));
  return facts.flatMap((fact) => adopt(fact, { find, ended }) ?? []);
}

interface Happened {
  readonly find: FindFact;
  /** Calls whose end is recorded. */
  readonly ended: ReadonlySet<CallPath>;
}

function adopt(fact: Fact, happened: Happened): Fact | undefined {
  switch (fact.type) {
    case "run-start":
      return adoptStart(fact);
    case "verdict": {
      if (!isPast(fact, happened)) return undefined;
      const { recorded: _, asked: __, ...rest } = fact;
      return rest;
    }
    case "decision": {
      if (!isPast(fact, happened)) return undefined;
      const { memory: _, remembered: __, allowed: ___, stops: ____, decision, ...rest } = fact;
      const { note, args } = decision.type === "approve" ? decision : { ...decision, args: undefined };
      return {
        ...rest,
        decision: { type: decision.type, ...(note === undefined ? {} : { note }), ...(args ? { args } : {}) } as typeof decision,
      };
    }
    case "grant":
      return isPast(fact, happened) ? fact : undefined;
    case "intent":
    case "result":
      return questionOf(fact) !== undefined || fact.kind === "question" || fact.kind === "connect" ? undefined : fact;
    case "answer":
    case "revocation":
    case "worker":
    case "attempt":
    case "undo":
      return undefined;
    default:
      return fact;
  }
}

/** The options of a run are its user's: today's hold. Its files and its entry say which program it is of. */
function adoptStart(run: FactOf<"run-start">): Fact {
  const { owner: _, onUnanswered: __, limits: ___, rules: ____, prices: _____, compiled, ...start } = run;
  const { model: ______, set: _______, modelFor: ________, ...source } = compiled ?? { target: "." };
  return { ...start, limits: {}, compiled: source };
}

/** True for a round of a call that has its result, or that was denied: what was decided then has no effect any more. */
function isPast({ callPath, key }: FactOf<"verdict" | "decision" | "grant">, { find, ended }: Happened): boolean {
  const prefix = /^(|.* )\d+$/s.exec(key)?.[1];
  if (prefix === undefined) return false;
  const result = find("result", { callPath, key: toolKey(prefix) });
  if (result && result.outcome.type !== "interrupted") return true;
  if (prefix === "" && ended.has(callPath)) return true;
  const isDenied = find("decision", { callPath, key })?.decision.type === "deny";
  return isDenied || find("verdict", { callPath, key })?.verdict.type === "blocked";
}
