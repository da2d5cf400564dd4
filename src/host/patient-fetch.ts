import type { Patience, PatientInit } from "./patience.ts";

/** How long a server may be silent, before or during its answer. A long answer that is not streamed takes minutes. */
const defaultPatience: Patience = { connect: 10_000, firstByte: 30 * 60_000, idle: 30 * 60_000 };

interface Dispatcher {
  compose?(interceptor: (dispatch: Dispatch) => Dispatch): Dispatcher;
}

type Dispatch = (options: object, handler: unknown) => unknown;

/**
 * Creates a `fetch` that waits for half an hour, where Node's own gives up after five minutes. It keeps the dispatcher of this
 * process (a proxy, the connections of a program that uses llm-do). If there is none that takes a time-out, it is Node's own.
 */
export function createPatientFetch(usual: Partial<Patience> = {}): typeof globalThis.fetch {
  return (input, init?: PatientInit) => {
    const { patience, ...standard } = init ?? {};
    const { firstByte: headersTimeout, idle: bodyTimeout } = { ...defaultPatience, ...usual, ...patience };
    const waits = (dispatch: Dispatch): Dispatch => {
      return (options, handler) => dispatch({ ...options, headersTimeout, bodyTimeout }, handler);
    };
    const dispatcher = findDispatcher()?.compose?.(waits);
    return globalThis.fetch(input, dispatcher ? ({ ...standard, dispatcher } as RequestInit) : standard);
  };
}

/** Node keeps it here, for all copies of its client; the second is that of Node 26. */
function findDispatcher(): Dispatcher | undefined {
  const kept = globalThis as Record<symbol, Dispatcher | undefined>;
  return kept[Symbol.for("undici.globalDispatcher.2")] ?? kept[Symbol.for("undici.globalDispatcher.1")];
}
