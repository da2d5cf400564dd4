import { isRecord } from "../protocol/json.ts";

/** Bytes of the members of a message, without those in one another. */
const longestEnvelope = 4096;

/** The parts of a message that say which request it is of. */
export interface MessageEnvelope {
  /** Undefined for notifications, and if it cannot be known. */
  readonly id?: string | number;
  readonly isReply: boolean;
}

const byte = { quote: 0x22, backslash: 0x5c, openList: 0x5b, closeList: 0x5d, open: 0x7b, close: 0x7d };

/** Reads the outer members of a message that comes in pieces, in linear time and bounded memory: values inside of lists and objects are left out. */
export class EnvelopeReader {
  readonly #kept: number[] = [];
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  read(piece: Uint8Array): void {
    for (const one of piece) {
      const before = this.#depth;
      this.#follow(one);
      const isOuter = Math.min(before, this.#depth) <= 1;
      if (isOuter && this.#kept.length <= longestEnvelope) this.#kept.push(one);
    }
  }

  envelope(): MessageEnvelope {
    const message = this.#kept.length > longestEnvelope ? undefined : parse(Buffer.from(this.#kept).toString("utf8"));
    if (!isRecord(message)) return { isReply: false };
    const { id } = message;
    const isReply = !Object.hasOwn(message, "method");
    return typeof id === "string" || typeof id === "number" ? { id, isReply } : { isReply };
  }

  #follow(one: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isText) {
      if (one === byte.backslash) this.#isEscaped = true;
      else if (one === byte.quote) this.#isText = false;
    } else if (one === byte.quote) this.#isText = true;
    else if (one === byte.open || one === byte.openList) this.#depth++;
    else if (one === byte.close || one === byte.closeList) this.#depth--;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
