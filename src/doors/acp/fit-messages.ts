import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { isRecord } from "../../protocol/json.ts";

/** Values that one message of a client may hold, and lists and objects in one another. A prompt needs some tens. */
const mostValues = 5000;
const deepest = 100;

/**
 * Lets through the messages that the library reads in time: it checks and echoes whatever comes. Content that has too many parts is left
 * out, so its request is answered as one without. A reply to a request that was never made is dropped.
 */
export function fitMessages({ readable, writable }: Stream, onNote: (note: string) => void): Stream {
  const fit = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => {
      const fitted = bound(message as unknown as Readonly<Record<string, unknown>>, onNote);
      if (fitted) controller.enqueue(fitted as unknown as AnyMessage);
    },
  });
  return { readable: readable.pipeThrough(fit), writable };
}

function bound(message: Readonly<Record<string, unknown>>, onNote: (note: string) => void): object | undefined {
  const { id, method } = message;
  const isReply = !("method" in message);
  if (isReply && typeof id !== "number") return undefined;
  const isTooLarge = !isBounded(message);
  if (isTooLarge)
    onNote(`a message of the client has more than ${mostValues} values, or ${deepest} in one another: it is left out`);
  else if (isReply || typeof method === "string") return message;
  const named = { jsonrpc: "2.0", ...(typeof id === "string" || typeof id === "number" ? { id } : {}) };
  if (isReply) return { ...named, result: {} };
  return "id" in named ? { ...named, method: typeof method === "string" ? method : "", params: {} } : undefined;
}

/** Looks no further than the bounds. */
function isBounded(message: unknown): boolean {
  let values = 0;
  const look = (value: unknown, depth: number): boolean => {
    if (++values > mostValues || depth > deepest) return false;
    if (Array.isArray(value)) return value.every((one) => look(one, depth + 1));
    return !isRecord(value) || Object.values(value).every((one) => look(one, depth + 1));
  };
  return look(message, 0);
}
