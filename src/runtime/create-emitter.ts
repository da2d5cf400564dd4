import type { Effects } from "../effects/effects.ts";
import type { Clock } from "../host/host.ts";
import type { CallAddress } from "../protocol/call.ts";
import type { EventSink, RunEvent, RunEventBody } from "../protocol/event.ts";
import { RedactedStream } from "../util/redacted-stream.ts";
import type { Redactor } from "../util/redactor.ts";

export interface EmitterOptions {
  readonly runId: string;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly effects: Pick<Effects, "isReplayed">;
  readonly onEvent: EventSink | undefined;
}

/** Tells a run's events, redacted, in order; nothing after its end. A listener's failure is its own: the run goes on. */
export function createEmitter({
  runId,
  clock,
  redactor,
  effects,
  onEvent,
}: EmitterOptions): (call: CallAddress, body: RunEventBody) => void {
  if (!onEvent) return () => undefined;
  const streams = new Map<string, RedactedStream>();
  let ended = false;
  const tell = ({ callPath, depth }: CallAddress, body: RunEventBody) => {
    const replayed = effects.isReplayed(callPath) ? { replayed: true as const } : {};
    const event: RunEvent = { v: 1, runId, callPath, depth, time: clock.now(), ...replayed, ...body };
    try {
      Promise.resolve(onEvent(event) as unknown).catch(() => undefined);
    } catch {}
  };
  const tellPiece = (call: CallAddress, type: "text-delta" | "reasoning-delta", text: string) => {
    if (text !== "") tell(call, { type, text });
  };
  return (call, body) => {
    if (ended) return;
    ended = body.type === "run-end";
    const keyOf = (type: string) => `${call.callPath} ${type}`;
    if (body.type === "text-delta" || body.type === "reasoning-delta") {
      const stream = streams.get(keyOf(body.type)) ?? new RedactedStream(redactor);
      streams.set(keyOf(body.type), stream);
      tellPiece(call, body.type, stream.push(body.text));
      return;
    }
    for (const type of ["reasoning-delta", "text-delta"] as const) {
      tellPiece(call, type, streams.get(keyOf(type))?.end() ?? "");
      streams.delete(keyOf(type));
    }
    tell(call, redactor.json(body));
  };
}
