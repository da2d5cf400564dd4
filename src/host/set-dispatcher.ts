import type { Patience } from "./patience.ts";

/** The part of a dispatcher of undici, Node's client, that is used here. */
export interface Dispatcher {
  compose?(interceptor: (dispatch: Dispatch) => Dispatch): Dispatcher;
  dispatch(options: object, handler: unknown): unknown;
}

type Dispatch = (options: object, handler: unknown) => unknown;

export interface DispatchedInit extends RequestInit {
  readonly patience: Patience;
}

/** Sends a request through a dispatcher, which has its own time for connecting. If it takes no time-outs, all of them are its own. */
export function fetchThrough(
  set: Dispatcher | undefined,
  input: Parameters<typeof fetch>[0],
  { patience, ...standard }: DispatchedInit,
) {
  const waits = (dispatch: Dispatch): Dispatch => {
    return (options, handler) =>
      dispatch({ ...options, headersTimeout: patience.firstByte, bodyTimeout: patience.idle }, handler);
  };
  const dispatcher = set?.compose?.(waits);
  return globalThis.fetch(input, dispatcher ? ({ ...standard, dispatcher } as RequestInit) : standard);
}

/**
 * Returns the dispatcher that somebody set for this process: a proxy of its environment, a mock, a retrying or another one. Copies of
 * undici share it under a symbol that its documentation names; the second is that of version 8. Node sets an `Agent` by itself, so one is
 * taken for Node's.
 */
export function findSetDispatcher(): Dispatcher | undefined {
  const kept = globalThis as Record<symbol, Dispatcher | undefined>;
  const found = kept[Symbol.for("undici.globalDispatcher.2")] ?? kept[Symbol.for("undici.globalDispatcher.1")];
  return found === undefined || found.constructor.name === "Agent" ? undefined : found;
}
