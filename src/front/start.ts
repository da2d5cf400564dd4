import type { EventSink, RunEvent } from "../protocol/event.ts";
import { type DefinedWorkers, type EntryRun, type RunOutput, type RunRequest, run } from "./llm-do.ts";

/** A run that has been started. */
export interface RunningRun<Result = RunOutput> {
  /**
   * The events of the run as they come, kept until they are read: no run waits for its reader. While 10,000 are unread, `text-delta`,
   * `reasoning-delta` and `partial-output` are left out. They can be iterated once, and end when the run ends, also if it fails: then
   * `result` rejects. Leaving the loop stops the iteration and not the run.
   */
  readonly events: AsyncIterable<RunEvent>;
  /** As of `run`. A rejection that nobody awaits is not reported. */
  readonly result: Promise<Result>;
}

/** Events that wait for a reader before pieces are left out. */
const mostUnread = 10_000;

/** A `message` later holds the whole of these parts. */
function isPiece({ type }: RunEvent): boolean {
  return type === "text-delta" || type === "reasoning-delta" || type === "partial-output";
}

/** Starts a run as `run` does, and returns at once, with its events to iterate over. Default for `deltas`: true. */
export function start<const W extends DefinedWorkers = DefinedWorkers, E extends string = never>(
  request: RunRequest<W, E>,
): RunningRun<EntryRun<W, E>>;
export function start(request: RunRequest): RunningRun {
  let reader: ReadableStreamDefaultController<RunEvent> | undefined;
  const events = new ReadableStream<RunEvent>(
    {
      start: (controller) => {
        reader = controller;
      },
      cancel: () => {
        reader = undefined;
      },
    },
    { highWaterMark: mostUnread },
  );
  const onEvent: EventSink = (event) => {
    if (!isPiece(event) || (reader?.desiredSize ?? 0) > 0) reader?.enqueue(event);
    // A promise of the listener is returned, so that its rejection is dropped.
    return request.onEvent?.(event);
  };
  const result = run({ deltas: true, ...request, onEvent }).finally(() => reader?.close());
  result.catch(() => undefined);
  return { events, result };
}
