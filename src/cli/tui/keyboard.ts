import { spawnSync } from "node:child_process";
import { openSync, writeSync } from "node:fs";
import { emitKeypressEvents, type Key as NodeKey } from "node:readline";
import type { Key } from "../../ui/tui/text-field.ts";
import { isInForeground } from "../process/foreground.ts";
import { openTerminalInput } from "../terminal/terminal-input.ts";

export interface KeyboardOptions {
  readonly onKey: (key: Key) => void;
  /** Called before the process stops, or hands the terminal on. */
  readonly onLeave: () => void;
  /** Called when the terminal is this process's again. */
  readonly onReturn: () => void;
  /** Called when the terminal is gone. */
  readonly onGone: () => void;
}

export interface Keyboard {
  /** Gives the terminal back as it was while the work is done. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

/** In milliseconds: on some systems a look starts a program. */
const betweenLooks = 500;

const pasteOn = "\x1b[?2004h";
/** Ends everything that this program turns on, in whatever state it is. */
const restore = "\x1b[?2004l\x1b[?25h\x1b[?2026l";

/** Reads keys from the terminal that controls this process. The terminal is restored when the process ends, however it does. */
export function openKeyboard(options: KeyboardOptions): Keyboard {
  return new TtyKeyboard(options);
}

type TerminalInput = ReturnType<typeof openTerminalInput>;

class TtyKeyboard implements Keyboard {
  readonly #options: KeyboardOptions;
  readonly #output = openSync("/dev/tty", "w");
  #input: TerminalInput;
  /** The terminal is a shell's or an editor's. */
  #isAway = false;
  #isLent = false;
  #lookOut: NodeJS.Timeout | undefined;

  constructor(options: KeyboardOptions) {
    this.#options = options;
    this.#input = this.#openInput();
    process.on("SIGCONT", this.#onContinue);
    process.once("exit", this.#release);
    this.#grab();
  }

  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#isLent = true;
    this.#leave();
    try {
      return await work();
    } finally {
      this.#isLent = false;
      this.#comeBack();
    }
  }

  close(): void {
    clearInterval(this.#lookOut);
    process.off("SIGCONT", this.#onContinue);
    process.off("exit", this.#release);
    this.#release();
    this.#input.destroy();
  }

  #openInput(): TerminalInput {
    const stream = openTerminalInput();
    emitKeypressEvents(stream);
    stream.on(
      "keypress",
      readPastes((key) => (key.ctrl && key.name === "z" ? this.#stop() : this.#options.onKey(key))),
    );
    stream.on("error", this.#options.onGone);
    return stream;
  }

  #grab(): void {
    // The shell has changed the mode meanwhile: the stream takes no mode that it believes to have.
    this.#input.setRawMode(false);
    this.#input.setRawMode(true);
    // Ctrl-C stays a signal: it reaches the process also while code of the program does not yield. Without `stty` it is a key.
    spawnSync("stty", ["isig", "susp", "undef", "quit", "undef"], { stdio: [this.#input.descriptor, "ignore", "ignore"] });
    tell(this.#output, pasteOn);
    this.#input.resume();
  }

  readonly #release = (): void => {
    if (this.#isAway) return;
    tell(this.#output, restore);
    this.#input.setRawMode(false);
  };

  #leave(): void {
    this.#options.onLeave();
    this.#release();
    this.#isAway = true;
    this.#input.destroy();
  }

  #comeBack(): void {
    this.#isAway = false;
    this.#input.destroy();
    this.#input = this.#openInput();
    this.#grab();
    this.#options.onReturn();
  }

  #stop(): void {
    this.#leave();
    process.kill(0, "SIGTSTP");
  }

  /** A shell gives a job that goes on in the background the terminal later, without a signal. */
  readonly #onContinue = (): void => {
    clearInterval(this.#lookOut);
    if (this.#isLent) return;
    if (isInForeground()) this.#comeBack();
    else this.#lookOut = setInterval(this.#onContinue, betweenLooks);
  };
}

function tell(output: number, text: string): void {
  try {
    writeSync(output, text);
  } catch {
    // The terminal is gone.
  }
}

/** Turns keys as Node reports them into ours: a paste is one key, whatever is in it. */
function readPastes(onKey: (key: Key) => void): (text: string | undefined, key: NodeKey) => void {
  let pasted: string | undefined;
  return (text, { name = "", ctrl = false, meta = false, sequence = "" }) => {
    if (name === "paste-start") pasted = "";
    else if (name === "paste-end") {
      onKey({ name: "paste", text: pasted ?? "", ctrl: false, meta: false });
      pasted = undefined;
    } else if (pasted !== undefined) pasted += sequence;
    else onKey({ name, ctrl, meta, text: ctrl || meta ? "" : (text ?? "") });
  };
}
