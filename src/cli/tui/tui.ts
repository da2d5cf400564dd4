import { setTimeout as wait } from "node:timers/promises";
import type { WriteStream } from "node:tty";
import { stripVTControlCharacters, styleText } from "node:util";
import type { RunEvent } from "../../protocol/event.ts";
import { addUsage, type Limits, noUsage, type Usage } from "../../protocol/usage.ts";
import { createRunView } from "../../ui/run-view.ts";
import { showProse } from "../../ui/text/show-text.ts";
import { wrapLines } from "../../ui/text/wrap-text.ts";
import { drawFoot, type Foot } from "../../ui/tui/draw-foot.ts";
import { drawScreen, type Sized } from "../../ui/tui/draw-screen.ts";
import { span, wrapSpans } from "../../ui/tui/spans.ts";
import { type Key, TextField } from "../../ui/tui/text-field.ts";
import { Transcript } from "../../ui/tui/transcript.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { divertOutput } from "../output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Frames } from "./frames.ts";
import type { InputHistory } from "./input-history.ts";
import { type Keyboard, openKeyboard } from "./keyboard.ts";
import { LiveRegion, type Screen } from "./live-region.ts";
import { OpenQuestion } from "./open-question.ts";

export interface TuiOptions {
  /** The terminal that controls this process. */
  readonly output: WriteStream;
  /** Messages are taken. */
  readonly isChat: boolean;
  /** Runs an editor on the terminal, to which Ctrl-C then belongs. */
  readonly runEditor: Terminal["runEditor"];
  /** Ctrl-C while a run goes on. */
  readonly onInterrupt: () => void;
  /** The terminal is gone. */
  readonly onGone: () => void;
  /** Executes a line that begins with `/`, and returns what to print, unstyled. */
  readonly runCommand: (line: string) => Promise<string>;
  /** Texts that can be recalled; gets those that are sent. */
  readonly history: InputHistory;
  /** Completes the text before the cursor. Candidates are shown. */
  readonly complete: (before: string) => Completion;
}

export interface Completion {
  /** The beginning of the text to replace. */
  readonly start: number;
  readonly text: string;
  readonly candidates: readonly string[];
}

export interface StartedRun {
  readonly limits: Limits;
  /** False if the entry's output is data: then its texts are not shown. */
  readonly showsText: boolean;
}

/** A question takes keys when none was pressed for so long: those were meant for something else. In milliseconds. */
const typeAhead = 150;

/** The size of the terminal has settled when it did not change for so long. In milliseconds. */
const untilSettled = 150;

/** The terminal UI: draws a run while it happens, asks, and takes messages and commands. */
export class Tui {
  readonly #options: TuiOptions;
  readonly #region: LiveRegion;
  readonly #keyboard: Keyboard;
  readonly #undivert: () => void;
  readonly #field: TextField;
  readonly #messages: string[] = [];
  #wanted: ((message: string | undefined) => void) | undefined;
  #transcript = new Transcript(createRunView(), { showsText: true });
  #run: StartedRun | undefined;
  /** The run was told to stop: the next time ends it at once. */
  #isStopping = false;
  #limits: Limits = {};
  /** By runs that have ended. */
  #spent: Usage = noUsage;
  #question: OpenQuestion<unknown> | undefined;
  /** Rows that are printed also while a question is open. */
  #now: string[] = [];
  #held = 0;
  #lastKey = 0;
  #hint: string | undefined;
  #hasLeft = false;
  /** The terminal is another program's, or the process is in the background. */
  #isAway = false;
  #isClosed = false;
  #resizing: NodeJS.Timeout | undefined;
  readonly #frames = new Frames(() => this.#draw());
  readonly #clock: NodeJS.Timeout;

  constructor(options: TuiOptions) {
    this.#options = options;
    this.#field = new TextField(options.history.texts);
    this.#region = new LiveRegion(this.#screen());
    this.#undivert = divertOutput((text) => this.print(text));
    this.#keyboard = openKeyboard({
      onKey: (key) => this.#press(key),
      onLeave: () => {
        this.#draw();
        this.#region.erase();
        this.#isAway = true;
      },
      onReturn: () => {
        this.#isAway = false;
        this.#region.forget();
        this.#draw();
      },
      onGone: options.onGone,
    });
    process.on("SIGWINCH", this.#resize);
    process.once("exit", this.close);
    // Times go on where nothing happens.
    this.#clock = setInterval(() => this.#run && this.#draw(), 1000);
    this.#hint = options.isChat ? "/help lists commands; Enter sends, Alt-Enter or \\ begins a line, @file attaches" : undefined;
    this.#draw();
  }

  /** The text of the entry's last turn, where it was shown. */
  get shownText(): string | undefined {
    return this.#run?.showsText === false ? undefined : this.#transcript.lastText;
  }

  /** Usage of the last request, and of all runs. */
  get numbers(): { readonly contextTokens: number; readonly usage: Usage } {
    return { contextTokens: this.#transcript.view.contextTokens, usage: this.#usage() };
  }

  /** The terminal as questions know it. */
  get terminal(): Terminal {
    const screen = this.#screen();
    return {
      output: this.#options.output,
      get columns() {
        return screen.columns;
      },
      ask: (question, signal) => this.#ask(new OpenQuestion(question, signal, () => this.#stop())),
      hold: async (work) => {
        this.#draw();
        this.#held++;
        try {
          return await work();
        } finally {
          this.#held--;
          this.#wake();
        }
      },
      say: (text) => this.#printNow(text.split("\n")),
      runEditor: (command, path, signal) => this.#keyboard.lend(() => this.#options.runEditor(command, path, signal)),
    };
  }

  startRun(run: StartedRun): void {
    this.#draw();
    const { isOpen } = this.#transcript;
    this.#run = run;
    this.#isStopping = false;
    this.#limits = run.limits;
    this.#hint = undefined;
    this.#transcript = new Transcript(createRunView(), run);
    this.#transcript.isOpen = isOpen;
  }

  readonly onEvent = (event: RunEvent): void => {
    this.#transcript.add(event);
    this.#wake();
  };

  endRun(): void {
    this.#spent = this.#usage();
    this.#printNow(this.#transcript.finish(this.#layout()));
    this.#run = undefined;
  }

  /** Prints a text above what stays in sight: escaped, and wrapped. */
  readonly print = (text: string): void => {
    const shown = showProse(stripVTControlCharacters(text)).replace(/\n$/, "");
    this.#transcript.print(wrapSpans([span(shown)], this.#layout()));
    this.#wake();
  };

  /** Resolves with the next message; undefined if the person leaves. */
  nextMessage(): Promise<string | undefined> {
    const next = this.#messages.shift();
    if (next !== undefined || this.#hasLeft) return Promise.resolve(next);
    return new Promise((resolve) => {
      this.#wanted = (message) => {
        this.#wanted = undefined;
        resolve(message);
      };
      this.#wake();
    });
  }

  /** Takes no more messages, and stops a run that goes on, in good order. */
  leave(): void {
    this.#hasLeft = true;
    this.#messages.length = 0;
    if (this.#run && !this.#isStopping) this.#stop();
    this.#wanted?.(undefined);
  }

  /** Ctrl-C at a question that it cancels, in a run, over a text, and at last to leave. */
  readonly interrupt = (): void => {
    if (this.#question) this.#question.interrupt();
    else if (this.#run) this.#stop();
    else if (this.#field.text !== "") this.#field.set("");
    else if (this.#hint === leaving) this.leave();
    else this.#hint = leaving;
    this.#wake();
  };

  /** Draws a last time, takes away what is live, and restores the terminal. */
  readonly close = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#clock);
    this.#frames.cancel();
    const layout = this.#layout();
    if (!this.#isAway) {
      const last = [...this.#transcript.finish(layout), ...this.#now, drawFoot(this.#foot(), layout)];
      this.#region.draw({ rows: [""], cursor: { row: 0, column: 0 } }, last);
      this.#region.erase();
    }
    this.#undivert();
    process.off("SIGWINCH", this.#resize);
    clearTimeout(this.#resizing);
    process.off("exit", this.close);
    this.#keyboard.close();
  };

  #stop(): void {
    this.#isStopping = true;
    this.#options.onInterrupt();
  }

  #press(key: Key): void {
    this.#lastKey = performance.now();
    const isControl = (name: string) => key.ctrl && key.name === name;
    if (isControl("c")) this.interrupt();
    else if (isControl("o")) this.#toggleCards();
    else if (isControl("d") && this.#question?.field.text === "") this.#question.submit(undefined);
    else if (isControl("d") && !this.#question && this.#field.text === "" && this.#options.isChat) this.leave();
    else if (this.#question) this.#question.press(key);
    else this.#type(key);
    this.#wake();
  }

  #toggleCards(): void {
    this.#transcript.isOpen = !this.#transcript.isOpen;
    if (this.#transcript.isOpen) this.#printNow(this.#transcript.lastCard(this.#layout()));
    this.#hint = `Calls are shown ${this.#transcript.isOpen ? "opened" : "in one line"} from now on (Ctrl-O)`;
  }

  #type(key: Key): void {
    this.#hint = undefined;
    if (key.name === "tab") this.#complete();
    else if (this.#field.press(key) === "submit") this.#submit(this.#field.take().trim());
  }

  #complete(): void {
    const { start, text, candidates } = this.#options.complete(this.#field.beforeCursor);
    this.#field.complete(start, text);
    if (candidates.length > 1) this.#hint = candidates.join("  ");
  }

  #submit(text: string): void {
    if (text === "") return;
    this.#options.history.add(text);
    if (text.startsWith("/")) {
      this.#options.runCommand(text).then(this.print, (thrown: unknown) => this.print(errorMessage(thrown)));
    } else if (!this.#options.isChat)
      this.#hint = "This run takes no messages (--chat holds a conversation); /help lists commands";
    else if (this.#wanted) this.#wanted(text);
    else {
      this.#messages.push(text);
      this.#hint = `${this.#messages.length} waiting for the end of this run`;
    }
  }

  async #ask<T>(question: OpenQuestion<T>): Promise<T> {
    question.onSay = (text) => this.#printNow(text.replace(/\n$/, "").split("\n"));
    question.onTell = (text) => this.#printNow(wrapLines(text, this.#layout().columns - 1));
    question.begin();
    try {
      while (!question.isSettled && performance.now() - this.#lastKey < typeAhead) await wait(typeAhead);
      this.#question = question as OpenQuestion<unknown>;
      this.#draw();
      return await question.answer;
    } finally {
      this.#question = undefined;
      this.#wake();
    }
  }

  /** Prints styled rows, also while a question is open. */
  #printNow(rows: readonly string[]): void {
    this.#now.push(...rows);
    this.#draw();
  }

  /** Waits until the size stays: each drawing in a new size leaves rows of the old one behind. */
  readonly #resize = (): void => {
    clearTimeout(this.#resizing);
    this.#resizing = setTimeout(() => {
      this.#resizing = undefined;
      this.#question?.repeat();
      this.#wake();
    }, untilSettled);
  };

  readonly #wake = (): void => {
    this.#frames.wake();
  };

  #draw(): void {
    this.#frames.cancel();
    if (this.#isAway || this.#isClosed || this.#resizing) return;
    const layout = this.#layout();
    const printed = [...(this.#held > 0 ? [] : this.#transcript.settle(layout)), ...this.#now];
    this.#now = [];
    const question = this.#question;
    const field = question?.field ?? (this.#options.isChat || this.#field.text !== "" ? this.#field : undefined);
    const sight = {
      view: this.#transcript.view,
      open: this.#transcript.open(layout),
      panel: question && { subject: question.subject, keys: question.keys },
      hint: question ? undefined : this.#hint,
      field,
      foot: this.#foot(),
      now: Date.now(),
    };
    this.#region.draw(drawScreen(sight, layout), printed);
  }

  #foot(): Foot {
    const { view } = this.#transcript;
    const elapsed = this.#run && view.startedAt > 0 ? Math.max(0, Date.now() - view.startedAt) : undefined;
    return { model: view.model, usage: this.#usage(), limits: this.#limits, elapsed, calledTools: view.calledTools };
  }

  #usage(): Usage {
    return this.#run ? addUsage(this.#spent, this.#transcript.view.usage) : this.#spent;
  }

  #layout(): Sized {
    const { columns, rows } = this.#screen();
    const { output: stream } = this.#options;
    return { columns, rows, style: (formats, text) => (formats.length === 0 ? text : styleText([...formats], text, { stream })) };
  }

  #screen(): Screen {
    const { output } = this.#options;
    // Node keeps the size of its standard streams up to date, and of no other one.
    const sized = [process.stdout, process.stderr].find(({ isTTY }) => isTTY) ?? output;
    return {
      get columns() {
        return sized.columns || 80;
      },
      get rows() {
        return sized.rows || 24;
      },
      write: (text) => output.write(text),
    };
  }
}

const leaving = "Ctrl-C again, or Ctrl-D, leaves";
