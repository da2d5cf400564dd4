import type { Message, ToolCallPart } from "../../protocol/message.ts";
import { createGrowingFold } from "../../util/growing-fold.ts";
import type { ModelResponse } from "../model.ts";

/**
 * An answer whose calls can be sent back. Servers give a call no id, or one that an earlier turn has, and providers refuse
 * both; a library looks names up in plain objects, where `__proto__` and `constructor` are found.
 */
export function withSafeCalls(response: ModelResponse, earlier: readonly Message[]): ModelResponse {
  const { message } = response;
  if (!message.parts.some(({ type }) => type === "tool-call")) return response;
  const taken = { earlier: idsIn(earlier), here: new Set<string>() };
  const parts = message.parts.map((part) => (part.type === "tool-call" ? withSafeNames(part, taken) : part));
  return parts.every((part, index) => part === message.parts[index]) ? response : { ...response, message: { ...message, parts } };
}

interface Taken {
  readonly earlier: ReadonlySet<string>;
  readonly here: Set<string>;
}

function withSafeNames(part: ToolCallPart, taken: Taken): ToolCallPart {
  const wanted = part.id.trim() === "" ? "call" : part.id;
  let id = wanted;
  for (let n = 2; taken.earlier.has(id) || taken.here.has(id); n++) id = `${wanted}_${n}`;
  taken.here.add(id);
  const name = part.name in Object.prototype ? `unknown_${part.name}` : part.name;
  return id === part.id && name === part.name ? part : { ...part, id, name };
}

/** The ids of the calls in a conversation. */
const idsIn = createGrowingFold<Message, Set<string>>(
  () => new Set(),
  (ids, { role, parts }) => {
    if (role !== "assistant") return;
    for (const part of parts) if (part.type === "tool-call") ids.add(part.id);
  },
);
