import { isPromiseLike } from "./abortable.ts";

/** Returns the result of a function, or a promise of it; of one that streams, of its last value. */
export function lastOf(result: unknown, signal: AbortSignal): unknown {
  return isPromiseLike(result) || isAsyncIterable(result) ? readLast(result, signal) : result;
}

async function readLast(result: unknown, signal: AbortSignal): Promise<unknown> {
  const value = await result;
  if (!isAsyncIterable(value)) return value;
  let last: unknown;
  for await (last of value) signal.throwIfAborted();
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
