import type { Message } from "../../protocol/message.ts";
import { RunError } from "../run-error.ts";

const roles: readonly unknown[] = ["user", "assistant", "tool"] satisfies Message["role"][];

/**
 * Throws a `RunError` for a history that no provider takes: something other than messages, or a tool call without its result.
 */
export function checkHistory(history: readonly Message[]): void {
  let open = new Set<string>();
  for (const [index, message] of history.entries()) {
    if (!isMessage(message))
      refuse(`message ${index} must have a \`role\` and \`parts\`, as \`messages\` of a run's output have`);
    if (message.role === "tool") for (const { id } of message.parts) open.delete(id);
    else requireAnswered(open);
    if (message.role === "assistant")
      open = new Set(message.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])));
  }
  requireAnswered(open);
}

function isMessage(message: Partial<Message> | null): boolean {
  return typeof message === "object" && roles.includes(message?.role) && Array.isArray(message?.parts);
}

function requireAnswered([id]: ReadonlySet<string>): void {
  if (id !== undefined) refuse(`the tool call ${JSON.stringify(id)} has no result`);
}

function refuse(problem: string): never {
  throw new RunError("configuration", `\`history\`: ${problem}`);
}
