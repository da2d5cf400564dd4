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

let nodesOwn: Dispatcher | undefined;

/** Returns the dispatcher that somebody set for this process: a proxy of its environment, or another. Undefined where it is Node's own. */
export function findSetDispatcher(): Dispatcher | undefined {
  // All copies of undici keep it here; the second is that of Node 26.
  const kept = globalThis as Record<symbol, Dispatcher | undefined>;
  const found = kept[Symbol.for("undici.globalDispatcher.2")] ?? kept[Symbol.for("undici.globalDispatcher.1")];
  if (found === undefined || found === nodesOwn) return undefined;
  if (!isNodesOwn(found)) return found;
  nodesOwn = found;
  return undefined;
}

/** Node exports neither its dispatcher nor the class. Programs cannot create one of it, so that one of this class has no settings. */
function isNodesOwn(dispatcher: Dispatcher): boolean {
  if (dispatcher.constructor.name !== "Agent") return false;
  try {
    dispatcher.dispatch({}, undefined);
  } catch (error) {
    return error instanceof Error && error.stack?.split("\n")[1]?.includes("(node:internal/") === true;
  }
  return false;
}
