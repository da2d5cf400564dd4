import { createParser } from "eventsource-parser";
import { isRecord } from "../../protocol/json.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { AnswerRefusal, bounds, checkDepth, type Pieces } from "./bounds.ts";
import { readFrames, readHeaders, writeFrame } from "./event-frames.ts";
import { type AddedText, joinEvents } from "./join-events.ts";
import { createUsageRepair } from "./usage-repair.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A JSON object of an answer. Parsed here and sent on, so repairs change it in place. */
export type Body = Record<string, unknown>;

/**
 * The repairs of one wire format. They come before the provider library reads an answer, because the library rejects whole
 * answers for one member that it does not know.
 */
export interface AnswerRepair {
  /** Repairs an answer that is not streamed. */
  readonly body: (body: Body) => void;
  /** Called once for each stream. */
  readonly events: () => EventRepair;
  /** True if events come in frames of `application/vnd.amazon.eventstream`, each as a record with its type as the only member. */
  readonly inFrames?: true;
  /** Returns the events that a stream would have sent for a repaired whole answer. */
  readonly asEvents: (body: Body) => readonly Body[];
}

export interface EventRepair {
  /** Repairs one event. Returns false to drop it. */
  readonly event: (event: Body) => boolean;
  /** Returns the text that a repaired event adds to an answer, if it says nothing else. */
  readonly textOf: (event: Body) => AddedText | undefined;
  /** Returns events to insert before the mark that ends the stream. */
  readonly atEnd?: () => readonly Body[];
}

/** Returns a repaired body. Anything that is not a JSON object comes back unchanged. */
export function repairWhole(bytes: Uint8Array, repair: AnswerRepair): string {
  const text = decoder.decode(bytes);
  const body = parse(text);
  return body ? JSON.stringify(repairBody(body, repair)) : text;
}

/** Returns the events of a body that came in the place of a stream. Throws if it is no JSON object. */
export function wholeAsEvents(bytes: Uint8Array, repair: AnswerRepair): string {
  const text = decoder.decode(bytes);
  const body = parse(text);
  if (!body) throw new AnswerRefusal("bad_response", `no events came: ${clipText(text.trim(), 80)}`);
  const { event: repairEvent, atEnd } = repair.events();
  const events = [...repair.asEvents(repairBody(body, repair)).filter(repairEvent), ...(atEnd?.() ?? [])];
  return [...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
}

function repairBody(body: Body, repair: AnswerRepair): Body {
  repair.body(body);
  createUsageRepair()(body);
  return body;
}

/**
 * Reads server-sent events and sends them on repaired, one `data` field each. Any line end is read, and a last event without its
 * blank line. Events that are no JSON pass unchanged, and other JSON than objects is left out. Errors where a body holds text and no events.
 */
export async function* repairEvents(pieces: Pieces, repair: AnswerRepair): Pieces {
  const pieceDecoder = new TextDecoder();
  const { event: repairEvent, textOf, atEnd } = repair.events();
  const repairUsage = createUsageRepair();
  const events: string[] = [];
  let hasFields = false;
  let stray = "";
  const parser = createParser({
    maxBufferSize: bounds.bodyBytes,
    onEvent: ({ data }) => events.push(data),
    onComment: () => (hasFields = true),
    onError({ type, line = "" }) {
      if (type === "unknown-field") stray ||= line.trim();
      if (type !== "max-buffer-size-exceeded") return;
      throw new AnswerRefusal("too_large", `an event of the answer is larger than ${bounds.bodyBytes / 2 ** 20} MiB`);
    },
  });
  const repairData = (data: string): (Body | string)[] => {
    if (data === "[DONE]") return [...(atEnd?.() ?? []), data];
    const event = parse(data);
    if (!event) return parseJson(data) === undefined ? [data] : [];
    if (!repairEvent(event)) return [];
    repairUsage(event);
    return [event];
  };
  /** The repaired events of one piece are one piece, too; none where nothing is left of them. */
  function* send(found: readonly string[]): Iterable<Uint8Array> {
    const repaired = joinEvents(found.flatMap(repairData), textOf);
    const texts = repaired.map((event) =>
      typeof event === "string" ? event.replaceAll("\n", "\ndata: ") : JSON.stringify(event),
    );
    if (texts.length > 0) yield encoder.encode(texts.map((text) => `data: ${text}\n\n`).join(""));
  }
  for await (const piece of pieces) {
    parser.feed(pieceDecoder.decode(piece, { stream: true }));
    hasFields ||= events.length > 0;
    yield* send(events.splice(0));
  }
  parser.feed(`${pieceDecoder.decode()}\n\n`);
  if (!hasFields && events.length === 0 && stray !== "") {
    throw new AnswerRefusal("bad_response", `no events came: ${clipText(stray, 80)}`);
  }
  // A stream that broke off ends with half an event.
  yield* send(events.splice(0).filter((data) => data === "[DONE]" || parse(data)));
}

/** Reads frames and sends them on repaired. What is no event, such as an exception, passes unchanged. */
export async function* repairFrames(pieces: Pieces, repair: AnswerRepair): Pieces {
  const { event: repairEvent } = repair.events();
  for await (const frame of readFrames(pieces)) {
    const headers = readHeaders(frame.headers);
    const type = headers.get(":event-type");
    if (type === undefined) {
      yield writeFrame(frame);
      continue;
    }
    const event: Body = { [type]: parse(decoder.decode(frame.payload)) };
    if (repairEvent(event)) yield writeFrame({ ...frame, payload: encoder.encode(JSON.stringify(event[type])) });
  }
}

function parse(json: string): Body | undefined {
  checkDepth(json);
  const value = parseJson(json);
  return isRecord(value) ? value : undefined;
}
