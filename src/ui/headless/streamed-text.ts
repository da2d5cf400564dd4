import type { RunEvent } from "../../protocol/event.ts";

export interface StreamedTextOptions {
  /** Gets pieces of the entry's text. Each turn's ends with a line break. */
  readonly write: (text: string) => void;
  /** Called where the text of a turn is void, since its request is made again. */
  readonly onVoid: (reason: string) => void;
}

/** Streams the texts of the entry, turn by turn, each of them once. */
export class StreamedText {
  /** The last answer. */
  last: string | undefined;
  readonly #options: StreamedTextOptions;
  #entry: string | undefined;
  /** The answer goes on in the next turn. */
  #isPaused = false;
  /** The text of this turn so far. */
  #text = "";

  constructor(options: StreamedTextOptions) {
    this.#options = options;
  }

  /** Returns true for an event that is shown by it alone. */
  add(event: RunEvent): boolean {
    if (event.type === "run-start") this.#entry = event.entry;
    if (event.callPath !== this.#entry) return false;
    switch (event.type) {
      case "text-delta":
        this.#text += event.text;
        this.#options.write(event.text);
        return true;
      case "retry":
        if (this.#endLine()) this.#options.onVoid(event.reason);
        return false;
      case "turn-end":
        if (this.#text === "") this.#options.write(event.text);
        if (event.text !== "") this.last = (this.#isPaused ? (this.last ?? "") : "") + event.text;
        this.#isPaused = event.finish === "paused";
        this.#text ||= event.text;
        this.#endLine();
        return false;
      case "call-end":
      case "run-end":
        this.#endLine();
        return false;
      default:
        return false;
    }
  }

  /** Returns false if nothing was written. */
  #endLine(): boolean {
    const text = this.#text;
    this.#text = "";
    if (text !== "" && !text.endsWith("\n")) this.#options.write("\n");
    return text !== "";
  }
}
