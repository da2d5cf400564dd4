import type {
  LanguageModelV4Content,
  LanguageModelV4Reasoning,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { abortable } from "../../util/async/abortable.ts";
import type { GenerateOptions, ModelDelta } from "../model.ts";
import { splitText } from "../wire/join-events.ts";
import type { LibraryAnswer } from "./library-answer.ts";

/** The stream ended without the event that closes a whole answer. */
export class BrokenStream extends Error {
  constructor(cause?: unknown) {
    super("the stream ended before the answer was complete", { cause });
    this.name = "BrokenStream";
  }
}

/** A failure that the provider reported inside the stream. */
export class StreamFailure extends Error {
  readonly failure: unknown;

  constructor(failure: unknown) {
    super("the provider reported an error in the stream", { cause: failure });
    this.name = "StreamFailure";
    this.failure = failure;
  }
}

interface StreamListeners extends Pick<GenerateOptions, "signal" | "onDelta"> {
  /** Receives each event as the server sent it. */
  readonly onRaw: (event: unknown) => void;
  /** The name of the tool whose arguments are the answer: they are passed on as its text. */
  readonly answerTool: string | undefined;
}

type Block = LanguageModelV4Text | LanguageModelV4Reasoning;
type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

/**
 * Reads a stream to its end and gives the same answer as a request without streaming would. Rejects if the stream
 * reports an error, breaks off, or ends without its closing event: nothing of an incomplete answer gets out but deltas.
 */
export async function readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  options: StreamListeners,
): Promise<LibraryAnswer> {
  const reader = stream.getReader();
  const collector = new Collector(options);
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), options.signal);
      if (done) return collector.finish();
      if (value.type === "raw") options.onRaw(value.rawValue);
      collector.add(value);
    }
  } catch (error) {
    reader.cancel(error).catch(() => undefined);
    throw error;
  }
}

/** Collects the parts of a stream. A delta is passed on as it comes. */
class Collector {
  readonly #content: LanguageModelV4Content[] = [];
  readonly #open = new Map<string, Block>();
  readonly #onDelta: GenerateOptions["onDelta"];
  readonly #answerTool: string | undefined;
  #answerId: string | undefined;
  /** The event, as the server sent it, that the parts after it are of. */
  #event: unknown;
  #warnings: readonly SharedV4Warning[] = [];
  #finish: Finish | undefined;

  constructor({ onDelta, answerTool }: StreamListeners) {
    this.#onDelta = onDelta;
    this.#answerTool = answerTool;
  }

  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "raw":
        this.#event = part.rawValue;
        break;
      case "text-start":
      case "reasoning-start":
        // One id can stand for several blocks, one after another.
        this.#open.delete(part.id);
        addMetadata(this.#block(part.type === "text-start" ? "text" : "reasoning", part.id), part.providerMetadata);
        break;
      case "text-delta":
      case "reasoning-delta": {
        const block = this.#block(part.type === "text-delta" ? "text" : "reasoning", part.id);
        addMetadata(block, part.providerMetadata);
        block.text += part.delta;
        this.#pass(part.type, part.delta);
        break;
      }
      case "text-end":
      case "reasoning-end":
        addMetadata(this.#open.get(part.id), part.providerMetadata);
        this.#open.delete(part.id);
        break;
      case "tool-input-start":
        if (part.toolName === this.#answerTool) this.#answerId = part.id;
        break;
      case "tool-input-delta":
        if (part.id === this.#answerId) this.#pass("text-delta", part.delta);
        break;
      case "tool-call":
      case "tool-result":
      case "source":
      case "file":
        this.#content.push(part);
        break;
      case "error":
        throw new StreamFailure(part.error);
      case "stream-start":
        this.#warnings = part.warnings;
        break;
      case "finish":
        this.#finish = part;
    }
  }

  #pass(type: ModelDelta["type"], delta: string): void {
    for (const text of splitText(delta, this.#event)) if (text !== "") this.#onDelta?.({ type, text });
  }

  /** The open block of an id; one begins where there is none. */
  #block(type: Block["type"], id: string): Block {
    const open = this.#open.get(id);
    if (open) return open;
    const block: Block = { type, text: "" };
    this.#content.push(block);
    this.#open.set(id, block);
    return block;
  }

  /** Libraries that do not know "interrupted" report "other" for it, without a word of the provider. */
  finish(): LibraryAnswer {
    if (!this.#finish) throw new BrokenStream();
    const { finishReason, usage, providerMetadata } = this.#finish;
    const { unified, raw } = finishReason;
    if (unified === "interrupted" || (unified === "other" && raw === undefined)) throw new BrokenStream();
    const about = providerMetadata ? { providerMetadata } : {};
    return { content: this.#content, finishReason, usage, warnings: this.#warnings, ...about };
  }
}

function addMetadata(block: Block | undefined, metadata: SharedV4ProviderMetadata | undefined): void {
  if (!block || !metadata) return;
  const merged: SharedV4ProviderMetadata = { ...block.providerMetadata };
  for (const [provider, facts] of Object.entries(metadata)) merged[provider] = { ...merged[provider], ...facts };
  block.providerMetadata = merged;
}
