import type { Effects } from "../effects/effects.ts";
import type { Clock } from "../host/host.ts";
import type { CallAddress } from "../protocol/call.ts";
import type { EventSink, RunEvent, RunEventBody } from "../protocol/event.ts";
import type { JsonValue } from "../protocol/json.ts";
import { isPromiseLike } from "../util/async/abortable.ts";
import { PartialJson } from "../util/json/partial-json.ts";
import { RedactedStream } from "../util/secrets/redacted-stream.ts";
import type { Redactor } from "../util/secrets/redactor.ts";

export interface EmitterOptions {
  readonly runId: string;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly effects: Pick<Effects, "isReplayed">;
  readonly onEvent: EventSink | undefined;
}

/** A piece of an answer that is to fit an output schema: a `text-delta`, and `partial-output`s of what it adds up to. */
export interface OutputDelta {
  readonly type: "output-delta";
  readonly text: string;
}

export type Emit = (call: CallAddress, body: RunEventBody | OutputDelta) => void;

/** The deltas of one kind of one call, since its last event of another kind. */
interface Pieces {
  readonly type: "text-delta" | "reasoning-delta";
  readonly stream: RedactedStream;
  /** Reads what is redacted already: half of a secret is not shown. */
  readonly output?: PartialJson;
}

/** Emits a run's events, redacted, in order; nothing after its end. A listener's failure is its own: the run goes on. */
export function createEmitter({ runId, clock, redactor, effects, onEvent }: EmitterOptions): Emit {
  if (!onEvent) return () => undefined;
  const open = new Map<string, Map<string, Pieces>>();
  let ended = false;
  const send = ({ callPath, depth }: CallAddress, body: RunEventBody) => {
    const head = { v: 1, runId, callPath, depth, time: clock.now() } as const;
    const event: RunEvent = effects.isReplayed(callPath) ? { ...head, replayed: true, ...body } : { ...head, ...body };
    try {
      const heard: unknown = onEvent(event);
      if (isPromiseLike(heard)) heard.then(undefined, () => undefined);
    } catch {}
  };
  const sendPiece = (call: CallAddress, { type, output }: Pieces, text: string) => {
    if (text !== "") send(call, { type, text });
    sendPartial(call, output?.push(text));
  };
  const sendPartial = (call: CallAddress, value: unknown) => {
    if (value !== undefined) send(call, redactor.json({ type: "partial-output", value: value as JsonValue }));
  };
  return (call, body) => {
    if (ended) return;
    ended = body.type === "run-end";
    const ofCall = open.get(call.callPath);
    if (body.type === "text-delta" || body.type === "reasoning-delta" || body.type === "output-delta") {
      const pieces = ofCall?.get(body.type) ?? openPieces(body.type, redactor);
      if (!ofCall) open.set(call.callPath, new Map([[body.type, pieces]]));
      else ofCall.set(body.type, pieces);
      sendPiece(call, pieces, pieces.stream.push(body.text));
      return;
    }
    if (ofCall) {
      open.delete(call.callPath);
      for (const type of ["reasoning-delta", "text-delta", "output-delta"]) {
        const pieces = ofCall.get(type);
        if (!pieces) continue;
        sendPiece(call, pieces, pieces.stream.end());
        sendPartial(call, pieces.output?.end());
      }
    }
    send(call, redactor.json(body));
  };
}

function openPieces(type: Pieces["type"] | "output-delta", redactor: Redactor): Pieces {
  const stream = new RedactedStream(redactor);
  return type === "output-delta" ? { type: "text-delta", stream, output: new PartialJson() } : { type, stream };
}
