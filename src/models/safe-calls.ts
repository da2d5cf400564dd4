import type { Message, ToolCallPart } from "../protocol/message.ts";
import type { ModelResponse } from "./model.ts";

/**
 * An answer whose calls can be sent back. Servers give a call no id, or one that an earlier turn has, and providers refuse
 * both; a library looks names up in plain objects, where `__proto__` and `constructor` are found.
 */
export function withSafeCalls(response: ModelResponse, earlier: readonly Message[]): ModelResponse {
  const { message } = response;
  if (!message.parts.some(({ type }) => type === "tool-call")) return response;
  const taken = new Set(earlier.flatMap(idsOf));
  const parts = message.parts.map((part) => (part.type === "tool-call" ? withSafeNames(part, taken) : part));
  return parts.every((part, index) => part === message.parts[index]) ? response : { ...response, message: { ...message, parts } };
}

function withSafeNames(part: ToolCallPart, taken: Set<string>): ToolCallPart {
  const wanted = part.id.trim() === "" ? "call" : part.id;
  let id = wanted;
  for (let n = 2; taken.has(id); n++) id = `${wanted}_${n}`;
  taken.add(id);
  const name = part.name in Object.prototype ? `unknown_${part.name}` : part.name;
  return id === part.id && name === part.name ? part : { ...part, id, name };
}

function idsOf(message: Message): string[] {
  if (message.role !== "assistant") return [];
  return message.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []));
}
