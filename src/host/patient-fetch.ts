/** How long a server may be silent, before or during its answer. A long answer that is not streamed takes minutes. */
const defaultPatience = 30 * 60_000;

/** The standard members and the patience of one request, in milliseconds. */
interface PatientInit extends RequestInit {
  readonly patience?: number;
}

interface Dispatcher {
  compose?(interceptor: (dispatch: Dispatch) => Dispatch): Dispatcher;
}

type Dispatch = (options: object, handler: unknown) => unknown;

/**
 * Creates a `fetch` that waits for half an hour, where Node's own gives up after five minutes. It keeps the dispatcher of this
 * process (a proxy, the connections of a program that uses llm-do). If there is none that takes a time-out, it is Node's own.
 */
export function createPatientFetch(milliseconds: number = defaultPatience): typeof globalThis.fetch {
  return (input, init?: PatientInit) => {
    const { patience = milliseconds, ...standard } = init ?? {};
    const waits = (dispatch: Dispatch): Dispatch => {
      return (options, handler) => dispatch({ ...options, headersTimeout: patience, bodyTimeout: patience }, handler);
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
