import { isRecord } from "../../protocol/json.ts";
import type { AnswerRepair, Body } from "./answer-repair.ts";

/**
 * Puts right what libraries refuse a whole answer for in its usage. A count that is missing or no number becomes 0, which
 * `readUsage` takes for a count that was not reported.
 */
export function withUsageRepair(repair: AnswerRepair): AnswerRepair {
  return {
    body: (body) => repairHolder(repair.body(body)),
    events: () => {
      const { event: inner, ...rest } = repair.events();
      const earlier: Earlier = { usage: {} };
      const event = (one: Body) => {
        const known = inner(one);
        return known && repairEvent(known, earlier);
      };
      return { ...rest, event };
    },
  };
}

/** Usage stands in an event, or in the message or response that it holds. */
function repairEvent(event: Body, earlier: Earlier): Body {
  const repaired = keepCounts(repairHolder(event), earlier);
  for (const name of ["message", "response"]) {
    const held = repaired[name];
    if (!isRecord(held)) continue;
    const better = keepCounts(repairHolder(held), earlier);
    if (better !== held) return { ...repaired, [name]: better };
  }
  return repaired;
}

/** What a stream has counted so far. */
interface Earlier {
  usage: Body;
}

/** A count that a later event leaves out, or says 0 for, stays: libraries take the last usage as it is. */
function keepCounts(holder: Body, earlier: Earlier): Body {
  const { usage } = holder;
  if (!isRecord(usage)) return holder;
  const kept = Object.entries(earlier.usage).filter(([name, value]) => value && !usage[name]);
  earlier.usage = { ...usage, ...Object.fromEntries(kept) };
  return kept.length === 0 ? holder : { ...holder, usage: earlier.usage };
}

function repairHolder(holder: Body): Body {
  const { usage } = holder;
  const required = requiredBy(holder);
  if (usage === undefined && required.length === 0) return holder;
  const repaired = isRecord(usage) || required.length > 0 ? repairCounts(isRecord(usage) ? usage : {}, required) : null;
  return repaired === usage ? holder : { ...holder, usage: repaired };
}

/** Anthropic's library insists on these, and OpenAI's where there is a usage. The end of a stream repeats the input only if it changed. */
function requiredBy({ type, object, usage }: Body): readonly string[] {
  if (type === "message_delta") return ["output_tokens"];
  return type === "message" || (object === "response" && isRecord(usage)) ? ["input_tokens", "output_tokens"] : [];
}

function repairCounts(usage: Body, required: readonly string[]): Body {
  const changes: Record<string, unknown> = {};
  for (const name of required) if (typeof usage[name] !== "number") changes[name] = 0;
  for (const [name, value] of Object.entries(usage)) {
    if (value === null) continue;
    if (name.endsWith("_tokens") && typeof value !== "number") changes[name] = 0;
    if (!name.endsWith("_details")) continue;
    const details = isRecord(value) ? repairCounts(value, []) : null;
    if (details !== value) changes[name] = details;
  }
  return Object.keys(changes).length > 0 ? { ...usage, ...changes } : usage;
}
