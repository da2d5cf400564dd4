import { spawnSync } from "node:child_process";
import { openSync, writeSync } from "node:fs";
import { emitKeypressEvents, type Key as NodeKey } from "node:readline";
import type { Key } from "../../ui/tui/text-field.ts";
import { isInForeground } from "../foreground.ts";
import { openTerminalInput } from "../terminal-input.ts";

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
export function openKeyboard({ onKey, onLeave, onReturn, onGone }: KeyboardOptions): Keyboard {
  const output = openSync("/dev/tty", "w");
  const openInput = () => {
    const stream = openTerminalInput();
    emitKeypressEvents(stream);
    stream.on(
      "keypress",
      readPastes(({ ctrl, name, ...rest }) => (ctrl && name === "z" ? stop() : onKey({ ctrl, name, ...rest }))),
    );
    stream.on("error", onGone);
    return stream;
  };
  let input = openInput();
  /** The terminal is a shell's or an editor's. */
  let isAway = false;
  let isLent = false;
  let lookOut: NodeJS.Timeout | undefined;
  const grab = () => {
    // The shell has changed the mode meanwhile: the stream takes no mode that it believes to have.
    input.setRawMode(false);
    input.setRawMode(true);
    // Ctrl-C stays a signal: it reaches the process also while code of the program does not yield. Without `stty` it is a key.
    spawnSync("stty", ["isig", "susp", "undef", "quit", "undef"], { stdio: [input.descriptor, "ignore", "ignore"] });
    tell(output, pasteOn);
    input.resume();
  };
  const release = () => {
    if (isAway) return;
    tell(output, restore);
    input.setRawMode(false);
  };
  const leave = () => {
    onLeave();
    release();
    isAway = true;
    input.destroy();
  };
  const comeBack = () => {
    isAway = false;
    input.destroy();
    input = openInput();
    grab();
    onReturn();
  };
  const stop = () => {
    leave();
    process.kill(0, "SIGTSTP");
  };
  // A shell gives a job that goes on in the background the terminal later, without a signal.
  const onContinue = () => {
    clearInterval(lookOut);
    if (isLent) return;
    if (isInForeground()) comeBack();
    else lookOut = setInterval(onContinue, betweenLooks);
  };
  const onExit = () => release();
  process.on("SIGCONT", onContinue);
  process.once("exit", onExit);
  grab();
  return {
    lend: async (work) => {
      isLent = true;
      leave();
      try {
        return await work();
      } finally {
        isLent = false;
        comeBack();
      }
    },
    close: () => {
      clearInterval(lookOut);
      process.off("SIGCONT", onContinue);
      process.off("exit", onExit);
      release();
      input.destroy();
    },
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
