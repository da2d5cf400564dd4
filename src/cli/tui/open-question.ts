import { stripVTControlCharacters } from "node:util";
import { showHidden } from "../../ui/text/show-text.ts";
import { type Key, TextField } from "../../ui/tui/text-field.ts";
import type { Question } from "../terminal/terminal.ts";

/** A question while it is open: it takes keys, and settles `answer`. */
export class OpenQuestion<T> {
  readonly field = new TextField();
  readonly subject: string;
  keys: string;
  /** Prints rows of the question. Set by the terminal UI when it opens the question. */
  onSay: (text: string) => void = () => undefined;
  /** Prints a message of any width. Set with it. */
  onTell: (text: string) => void = () => undefined;
  readonly #question: Question<T>;
  readonly #signal: AbortSignal;
  readonly #onInterrupt: () => void;
  readonly #settle = Promise.withResolvers<T>();
  readonly answer = this.#settle.promise;
  isSettled = false;

  constructor(question: Question<T>, signal: AbortSignal, onInterrupt: () => void) {
    this.#question = question;
    this.#signal = signal;
    this.#onInterrupt = onInterrupt;
    // It is wrapped anew, for the terminal can change its size.
    this.subject = stripVTControlCharacters(question.subject ?? "").replace(/ *\n */g, " ");
    this.keys = question.keys ?? "";
    this.field.set(question.initial ?? "");
    const settled = () => {
      this.isSettled = true;
    };
    this.answer.then(settled, settled);
  }

  begin(): void {
    const abort = () => this.#settle.reject(this.#signal.reason);
    if (this.#signal.aborted) abort();
    this.#signal.addEventListener("abort", abort);
    const release = () => this.#signal.removeEventListener("abort", abort);
    this.answer.then(release, release);
    this.onSay(this.#question.text);
  }

  press(key: Key): void {
    if (this.field.press(key) === "submit") this.submit(this.field.take());
  }

  /** `undefined`: the terminal gives no line. */
  submit(line: string | undefined): void {
    const result = this.#question.read(line);
    if (line !== undefined) this.onTell(`> ${showHidden(line)}`);
    if (typeof result === "string") this.onTell(result);
    else if ("answer" in result) this.#settle.resolve(result.answer);
    else {
      this.keys = result.keys;
      this.onSay(result.text);
    }
  }

  /** Prints the question again, after the terminal has changed its size. */
  repeat(): void {
    const again = this.#question.again?.();
    if (!again) return;
    this.keys = again.keys;
    this.onSay(again.text);
  }

  interrupt(): void {
    const { cancelled } = this.#question;
    if (cancelled === undefined) this.#onInterrupt();
    else this.#settle.resolve(cancelled);
  }
}
