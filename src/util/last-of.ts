/** Resolves with the result of a function; of one that streams, with its last value. */
export async function lastOf(result: unknown, signal: AbortSignal): Promise<unknown> {
  const value = await result;
  if (!isAsyncIterable(value)) return value;
  let last: unknown;
  for await (last of value) signal.throwIfAborted();
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
