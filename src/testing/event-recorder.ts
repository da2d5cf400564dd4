import type { RunEvent, RunEventType } from "../protocol/event.ts";

type EventOf<T extends RunEventType> = Extract<RunEvent, { readonly type: T }>;

/** An `onEvent` that keeps what it receives. Its assertions throw an `Error` that lists the types of the events. */
export interface EventRecorder {
  (event: RunEvent): void;
  /** All events so far, in order. */
  readonly events: readonly RunEvent[];
  /** The events of a type, in order. */
  all<T extends RunEventType>(type: T): readonly EventOf<T>[];
  /** The event of a type; throws unless there is exactly one. */
  only<T extends RunEventType>(type: T): EventOf<T>;
  /** Throws if there is an event of one of the types. */
  assertNone(...types: readonly RunEventType[]): void;
  /** Throws unless events of these types came in this order; others may stand between them. */
  assertOrder(...types: readonly RunEventType[]): void;
}

/** Records the events of a run: `run({ …, onEvent: eventRecorder() })`. */
export function eventRecorder(): EventRecorder {
  const events: RunEvent[] = [];
  const all = <T extends RunEventType>(type: T) => events.filter((event): event is EventOf<T> => event.type === type);
  const fail = (expected: string): never => {
    throw new Error(`expected ${expected}; the events are: ${events.map(({ type }) => type).join(", ") || "none"}`);
  };
  return Object.assign((event: RunEvent) => void events.push(event), {
    events,
    all,
    only: <T extends RunEventType>(type: T) => {
      const [found, ...others] = all(type);
      return found === undefined || others.length > 0 ? fail(`exactly one ${type}`) : found;
    },
    assertNone: (...types: readonly RunEventType[]) => {
      if (events.some(({ type }) => types.includes(type))) fail(`no ${types.join(" and no ")}`);
    },
    assertOrder: (...types: readonly RunEventType[]) => {
      const wanted = [...types];
      for (const { type } of events) if (type === wanted[0]) wanted.shift();
      if (wanted.length > 0) fail(`${types.join(", then ")}`);
    },
  });
}
