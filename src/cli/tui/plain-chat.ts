import type { EventSink } from "../../protocol/event.ts";
import { addUsage, noUsage, type Usage } from "../../protocol/usage.ts";
import { createRunView, foldEvent } from "../../ui/run-view.ts";
import { showProse } from "../../ui/text/show-text.ts";
import { writeStderr } from "../output.ts";
import { type Listeners, openListeners } from "../run/event-sink.ts";
import type { Question, Terminal } from "../terminal/terminal.ts";
import type { StartedRun, Tui } from "./tui.ts";

/** The part of the terminal UI that a session uses. */
export type Surface = Pick<
  Tui,
  | "shownText"
  | "numbers"
  | "terminal"
  | "startRun"
  | "onEvent"
  | "endRun"
  | "print"
  | "nextMessage"
  | "leave"
  | "interrupt"
  | "close"
>;

export interface PlainChatOptions {
  readonly terminal: Terminal;
  readonly verbosity: number;
  readonly signal: AbortSignal;
  /** Stops the run that goes on. */
  readonly onInterrupt: () => void;
  /** Executes a line that begins with `/`, and returns what to print. */
  readonly runCommand: (line: string) => Promise<string>;
}

/** A conversation in lines: `--chat --plain`. Nothing is drawn twice. */
export class PlainChat implements Surface {
  readonly terminal: Terminal;
  readonly #options: PlainChatOptions;
  #view = createRunView();
  #listeners: Listeners | undefined;
  #spent: Usage = noUsage;
  #isRunning = false;
  #hasLeft = false;

  constructor(options: PlainChatOptions) {
    this.#options = options;
    this.terminal = options.terminal;
  }

  get shownText(): string | undefined {
    return this.#listeners?.streamed();
  }

  get numbers(): Tui["numbers"] {
    return { contextTokens: this.#view.contextTokens, usage: this.#isRunning ? this.#usage() : this.#spent };
  }

  startRun({ showsText }: StartedRun): void {
    const { verbosity } = this.#options;
    this.#view = createRunView();
    this.#isRunning = true;
    this.#listeners = openListeners({ verbosity, quiet: false, events: undefined, streams: process.stdout.isTTY && showsText });
  }

  readonly onEvent: EventSink = (event) => {
    foldEvent(this.#view, event);
    this.#listeners?.onEvent(event);
  };

  endRun(): void {
    this.#spent = this.#usage();
    this.#isRunning = false;
    this.#listeners?.[Symbol.dispose]();
    // Ends the line of the text that was streamed.
    writeStderr("");
  }

  readonly print = (text: string): void => {
    if (text !== "") this.terminal.say(`${showProse(text).trimEnd()}\n`);
  };

  /** Reads lines until one is a message: what follows a `\` at its end belongs to it. Undefined at Ctrl-D and Ctrl-C. */
  async nextMessage(): Promise<string | undefined> {
    let message = "";
    while (!this.#hasLeft) {
      const { line } = await this.terminal.ask(typed, this.#options.signal).catch(() => ({ line: undefined }));
      if (line === undefined) return undefined;
      if (line.endsWith("\\")) message += `${line.slice(0, -1)}\n`;
      else if (message === "" && line.startsWith("/")) this.print(await this.#options.runCommand(line));
      else if ((message + line).trim() !== "") return message + line;
    }
    return undefined;
  }

  leave(): void {
    this.#hasLeft = true;
    this.interrupt();
  }

  readonly interrupt = (): void => {
    if (this.#isRunning) this.#options.onInterrupt();
  };

  readonly close = (): void => undefined;

  #usage(): Usage {
    return addUsage(this.#spent, this.#view.usage);
  }
}

/** A typed line; absent if the user leaves. */
interface Typed {
  readonly line: string | undefined;
}

const typed: Question<Typed> = { text: "", cancelled: { line: undefined }, read: (line) => ({ answer: { line } }) };
