import { canonicalJson } from "../json/canonical-json.ts";
import { holdsLongText } from "../json/plain-json.ts";
import { sha256 } from "../sha256.ts";

/** To make longer texts JSON takes longer than all that is to be known of them. In UTF-16 units. */
export const longText = 8192;

export interface TextFacts {
  /** SHA-256 of its UTF-8, in hex. */
  readonly digest: string;
  readonly bytes: number;
  readonly holdsSecret: boolean;
}

/** The most texts that are remembered. */
const mostTexts = 8;

/**
 * Facts of the long texts that a run handled last: the gate, the journal, requests and events ask the same of each. A text is found
 * by what it is, so that no answer can be out of date.
 */
export class LongTexts {
  readonly #known = new Map<string, TextFacts>();
  readonly #holdsSecret: (text: string) => boolean;

  constructor(holdsSecret: (text: string) => boolean) {
    this.#holdsSecret = holdsSecret;
  }

  find(text: string): TextFacts | undefined {
    return text.length > longText ? this.#known.get(text) : undefined;
  }

  /** Undefined for a text that is not long, or holds half a surrogate pair, which UTF-8 has no form for. */
  look(text: string): TextFacts | undefined {
    const known = this.find(text);
    if (known || text.length <= longText || !text.isWellFormed()) return known;
    const content = Buffer.from(text);
    const facts = { digest: sha256(content), bytes: content.length, holdsSecret: this.#holdsSecret(text) };
    this.#known.set(text, facts);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > mostTexts) this.#known.delete(oldest);
    return facts;
  }
}

/** The digest of a value's canonical JSON, in which long texts stand as their digests. */
export function digestJson(value: unknown, look: LongTexts["look"]): string {
  if (!holdsLongText(value, longText)) return sha256(canonicalJson(value));
  const write = (text: string): string => {
    const long = look(text);
    // Each text says which of both it is: none can pass for another.
    return long ? `#${long.digest}` : `=${text}`;
  };
  return sha256(`long texts as digests: ${canonicalJson(value, write)}`);
}

/** The length of a value's JSON, in which long texts count as they are. In UTF-16 units. */
export function lengthOfJson(value: unknown): number {
  let long = 0;
  const write = (text: string): string => {
    if (text.length <= longText) return text;
    long += text.length;
    return "";
  };
  return canonicalJson(value, write).length + long;
}
