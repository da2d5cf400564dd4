import { type CallPath, withCallers } from "../../protocol/call.ts";
import type { Fact, FactOf, Outcome } from "../../protocol/fact.ts";
import { isRecord } from "../../protocol/json.ts";
import { addUsage, noUsage, type Usage } from "../../protocol/usage.ts";

/** In the place of a call's path: all checks of the run. */
export const checksAccount = "/check";

/** Tokens and dollars that a request may take. */
interface Reserved {
  readonly callPath: CallPath;
  readonly tokens: number;
  readonly usd: number;
}

/**
 * Sums the usage of model requests, for each call with everything below it. Failed attempts count what they reported. A request whose
 * outcome was lost counts as unknown, with all that it could take.
 */
export function createUsageState() {
  const spent = new Map<CallPath, Usage>();
  const toolCalls = new Map<CallPath, number>();
  const pending = new Map<string, Reserved>();
  const of = (callPath: CallPath): Usage => spent.get(callPath) ?? noUsage;
  const add = (callPath: CallPath, usage: Usage): void => {
    for (const account of accountsOf(callPath)) spent.set(account, addUsage(of(account), usage));
  };
  const addUnknown = ({ callPath, tokens, usd }: Reserved): void =>
    add(callPath, { ...noUsage, unknownTokens: Math.max(0, tokens), ...(usd > 0 ? { unknownUsd: usd } : {}) });
  const applyResult = ({ callPath, key, outcome, shared }: FactOf<"result">): void => {
    const reserved = pending.get(keyOf(callPath, key));
    pending.delete(keyOf(callPath, key));
    if (shared) return;
    const usage = reported(outcome);
    if (usage) add(callPath, usage);
    if (outcome.type !== "interrupted" || !reserved) return;
    const { inputTokens = 0, outputTokens = 0, usd = 0 } = usage ?? {};
    addUnknown({ callPath, tokens: reserved.tokens - inputTokens - outputTokens, usd: reserved.usd - usd });
  };
  const countCalls = (callPath: CallPath, calls: number): void => {
    for (const account of accountsOf(callPath)) toolCalls.set(account, (toolCalls.get(account) ?? 0) + calls);
  };
  const apply = (fact: Fact): void => {
    if (fact.type === "code-call") countCalls(fact.callPath, 1);
    if (fact.type === "attempt") {
      for (const reserved of pending.values()) addUnknown(reserved);
      pending.clear();
    }
    if ((fact.type !== "intent" && fact.type !== "result") || fact.kind !== "model") return;
    if (fact.type === "intent") pending.set(keyOf(fact.callPath, fact.key), { callPath: fact.callPath, ...reservedBy(fact) });
    else {
      applyResult(fact);
      countCalls(fact.callPath, callsOf(fact.outcome));
    }
  };
  return { apply, of, toolCallsOf: (callPath: CallPath) => toolCalls.get(callPath) ?? 0 };
}

/** The calls that a call counts for. A check comes after its caller's end, and counts for all checks of the run instead. */
function* accountsOf(callPath: CallPath): Iterable<CallPath> {
  for (const path of withCallers(callPath)) {
    yield path;
    if (!path.endsWith(checksAccount)) continue;
    yield checksAccount;
    return;
  }
}

function keyOf(callPath: CallPath, key: string): string {
  return `${callPath}\n${key}`;
}

function reservedBy({ detail: { reserved } }: FactOf<"intent">): Pick<Reserved, "tokens" | "usd"> {
  const { tokens, usd } = isRecord(reserved) ? reserved : {};
  return { tokens: typeof tokens === "number" ? tokens : 0, usd: typeof usd === "number" ? usd : 0 };
}

function reported(outcome: Outcome): Usage | undefined {
  if (outcome.type !== "value") return outcome.usage;
  const usage = isRecord(outcome.value) ? outcome.value["usage"] : undefined;
  return isRecord(usage) ? (usage as unknown as Usage) : undefined;
}

/** How many calls a response asks for. None of an answer that was cut off is made. */
function callsOf(outcome: Outcome): number {
  const value = outcome.type === "value" && isRecord(outcome.value) ? outcome.value : {};
  const { message, finish } = value;
  if (!isRecord(message) || !Array.isArray(message["parts"]) || finish === "length" || finish === "context-window") return 0;
  return message["parts"].filter((part) => isRecord(part) && part["type"] === "tool-call").length;
}
