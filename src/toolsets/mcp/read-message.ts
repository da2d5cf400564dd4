import { isRecord } from "../../protocol/json.ts";

/** The deepest members of the protocol: `result.contents[0].resource.annotations.audience`. */
const deepest = 8;

/** Members that hold what is no part of the protocol: schemas, arguments and results of tools, where `null` is a value. */
const opaque = new Set([
  "structuredContent",
  "inputSchema",
  "outputSchema",
  "requestedSchema",
  "arguments",
  "_meta",
  "data",
  "experimental",
]);

/**
 * Leaves out members of a message that are `null`: servers write so what is absent, which the protocol does not allow. Values of tools stay
 * as they are.
 */
export function withoutNulls(message: unknown, levels = deepest): unknown {
  if (levels === 0) return message;
  if (Array.isArray(message)) return message.map((item) => withoutNulls(item, levels - 1));
  if (!isRecord(message)) return message;
  const members = Object.entries(message).filter(([key, value]) => value !== null || key === "id");
  return Object.fromEntries(members.map(([key, value]) => [key, opaque.has(key) ? value : withoutNulls(value, levels - 1)]));
}

/** Repairs a message in the text of a response over HTTP. A text that is no JSON stays as it is. */
export function repairText(text: string): string {
  // Most messages hold none.
  if (!text.includes("null")) return text;
  try {
    return JSON.stringify(withoutNulls(JSON.parse(text)));
  } catch {
    return text;
  }
}
