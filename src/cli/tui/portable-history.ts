import type { AssistantMessage, Message } from "../../protocol/message.ts";

/**
 * Returns a conversation that another provider takes: without reasoning, without what the provider executed itself, and without the data
 * that only the provider which made it understands.
 */
export function portableHistory(history: readonly Message[]): readonly Message[] {
  return history.flatMap((message): Message[] => {
    if (message.role !== "assistant") return [message];
    const parts = message.parts.flatMap(portablePart);
    return parts.length > 0 ? [{ role: "assistant", parts }] : [];
  });
}

type Part = AssistantMessage["parts"][number];

function portablePart(part: Part): Part[] {
  if (part.type === "text" || part.type === "tool-call") {
    const { providerData: _, ...portable } = part;
    return [portable];
  }
  return part.type === "file" ? [part] : [];
}
