import type { Clock } from "../host/host.ts";
import type { Fact } from "../protocol/fact.ts";
import type { Redactor } from "../util/secrets/redactor.ts";
import { externalize, type KnownFiles, type RecordedFact, toPlainText } from "./blobs.ts";
import { type KnownValues, noteValue, withReferences } from "./references.ts";
import type { RunSecrets } from "./run-secrets.ts";

/** A fact in the form in which every store keeps it: a line of JSON, and what it refers to, which has to be there before the line. */
export interface EncodedFact extends Omit<RecordedFact, "value"> {
  /** Ends with a line break. */
  readonly line: string;
}

export interface EncoderOptions {
  readonly clock: Pick<Clock, "now">;
  readonly redactor: Redactor;
  readonly secrets: RunSecrets;
  /** How many entries the record has. */
  readonly entries: number;
  /** The lease under which the entries are written: see `epochOf`. */
  readonly epoch: number;
}

const none = { blobs: [], secrets: [], privateBlobs: [] };

/** Turns the facts of one run into entries, one after the other. */
export class FactEncoder {
  readonly #options: EncoderOptions;
  readonly #files: KnownFiles = new WeakMap();
  readonly #values: KnownValues = new WeakMap();
  readonly #epoch: string;
  #entries: number;

  constructor(options: EncoderOptions) {
    this.#options = options;
    this.#entries = options.entries;
    this.#epoch = options.epoch === 1 ? "" : `,"epoch":${options.epoch}`;
  }

  encode(whole: Fact): EncodedFact {
    const { clock, redactor, secrets } = this.#options;
    const fact = withReferences(whole, this.#values);
    const head = `{"v":${fact === whole ? 2 : 3},"n":${this.#entries},"time":${clock.now()}${this.#epoch}`;
    noteValue(this.#values, whole, this.#entries++);
    const plain = toPlainText(fact, redactor);
    if (plain !== undefined) return { line: `${head},${plain.slice(1)}\n`, ...none };
    const { value, ...kept } = externalize(fact, { redactor, secrets, files: this.#files });
    return { line: `${head},${JSON.stringify(value).slice(1)}\n`, ...kept };
  }
}
