import { isRecord } from "../../protocol/json.ts";
import { clipText } from "../../util/clip-text.ts";
import { AnswerRefusal } from "./answer-refusal.ts";
import type { EventRepair } from "./answer-repair.ts";
import { bounds, checkDepth } from "./bounds.ts";

const fieldLine = /^(?:(?:data|event|id|retry)(?::|$)|:)/;

/**
 * Server-sent events in their plainest form: one `data` field each, line feeds, a blank line after the last. Any line end is
 * read, and a last event without its blank line. Events pass through `repair`; those that are no JSON stay as they are.
 */
export function repairEvents(repair: EventRepair): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const parser = new EventParser();
  type Output = TransformStreamDefaultController<Uint8Array>;
  const send = (data: string, output: Output) => {
    const lines = data.split("\n").map((line) => `data: ${line}\n`);
    output.enqueue(encoder.encode(`${lines.join("")}\n`));
  };
  const pass = (data: string, output: Output) => {
    if (data === "[DONE]") for (const event of repair.atEnd?.() ?? []) send(JSON.stringify(event), output);
    const event = parse(data);
    const repaired = event && repair.event(event);
    if (event && !repaired) return;
    send(repaired && repaired !== event ? JSON.stringify(repaired) : data, output);
  };
  return new TransformStream({
    transform(chunk, output) {
      for (const data of parser.add(decoder.decode(chunk, { stream: true }))) pass(data, output);
    },
    flush(output) {
      for (const data of parser.add(decoder.decode())) pass(data, output);
      const last = parser.end();
      // Half an event is what a stream that broke off ends with.
      if (last === "[DONE]" || parse(last)) pass(last, output);
    },
  });
}

function parse(data: string): Record<string, unknown> | undefined {
  checkDepth(data);
  try {
    const value: unknown = JSON.parse(data);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Text in pieces to the data of events. */
class EventParser {
  #line: string[] = [];
  #data: string[] = [];
  #length = 0;
  #afterReturn = false;
  #hasFields = false;
  #stray = "";

  add(text: string): string[] {
    if (text === "") return [];
    const plain = (this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text).replace(/\r\n?/g, "\n");
    this.#afterReturn = text.endsWith("\r");
    this.#length += plain.length;
    const lines = plain.split("\n");
    const rest = lines.pop() ?? "";
    const found = lines.flatMap((line) => {
      this.#line.push(line);
      return this.#endLine();
    });
    this.#line.push(rest);
    if (this.#length > bounds.bodyBytes) {
      throw new AnswerRefusal("too_large", `an event of the answer is larger than ${bounds.bodyBytes / 2 ** 20} MiB`);
    }
    return found;
  }

  /** The data of an event without its blank line. Throws where there was text, and none of it an event. */
  end(): string {
    const [whole] = this.#endLine();
    const data = whole ?? this.#data.join("\n");
    if (!this.#hasFields && this.#stray !== "") {
      throw new AnswerRefusal("bad_response", `no events came: ${clipText(this.#stray, 80)}`);
    }
    return data;
  }

  #endLine(): string[] {
    const line = this.#line.join("");
    this.#line = [];
    if (line === "") return this.#dispatch();
    if (fieldLine.test(line)) this.#hasFields = true;
    else if (this.#stray === "") this.#stray = line.trim();
    const data = /^data(?:: ?|$)/.exec(line);
    if (data) this.#data.push(line.slice(data[0].length));
    return [];
  }

  #dispatch(): string[] {
    const data = this.#data;
    this.#data = [];
    this.#length = 0;
    return data.length === 0 ? [] : [data.join("\n")];
  }
}
