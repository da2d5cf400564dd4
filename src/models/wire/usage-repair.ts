import { isRecord } from "../../protocol/json.ts";
import type { Body } from "./repair.ts";

/**
 * Returns a function that repairs the usage in an answer, or in the events of one stream. Libraries reject a whole answer for a
 * count that is missing or not a number: it becomes 0, which `readUsage` takes as not reported. A count that a later event omits
 * or sets to 0 keeps its value, because libraries use the last usage as it is.
 */
export function createUsageRepair(): (answer: Body) => void {
  let earlier: Body = {};
  return (answer) => {
    for (const holder of [answer, answer["message"], answer["response"]].filter(isRecord)) {
      repairUsage(holder);
      const { usage } = holder;
      if (!isRecord(usage)) continue;
      for (const [name, value] of Object.entries(earlier)) if (value && !usage[name]) usage[name] = value;
      earlier = usage;
    }
  };
}

function repairUsage(holder: Body): void {
  const required = requiredBy(holder);
  const { usage } = holder;
  if (usage === undefined && required.length === 0) return;
  const counts = isRecord(usage) ? usage : required.length > 0 ? {} : null;
  holder["usage"] = counts;
  if (!counts) return;
  for (const name of required) counts[name] ??= 0;
  repairCounts(counts);
}

/**
 * Anthropic's library requires these, and OpenAI's where there is a usage. The end of a stream repeats the input only if it
 * changed.
 */
function requiredBy({ type, object, usage }: Body): readonly string[] {
  if (type === "message_delta") return ["output_tokens"];
  return type === "message" || (object === "response" && isRecord(usage)) ? ["input_tokens", "output_tokens"] : [];
}

function repairCounts(counts: Body): void {
  for (const [name, value] of Object.entries(counts)) {
    if (value === null) continue;
    if (name.endsWith("_tokens") && typeof value !== "number") counts[name] = 0;
    if (!name.endsWith("_details")) continue;
    if (isRecord(value)) repairCounts(value);
    else counts[name] = null;
  }
}
