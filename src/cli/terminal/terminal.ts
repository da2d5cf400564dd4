import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createInterface, type Interface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type ReadStream, WriteStream } from "node:tty";
import { holdStderr } from "../output.ts";
import { isInForeground } from "../process/foreground.ts";
import type { SignalListener } from "../process/signals.ts";
import { openTerminalInput } from "./terminal-input.ts";

/** The terminal that a person sits at; never a pipe. */
export interface Terminal {
  readonly output: WriteStream;
  readonly columns: number;
  /** Shows a question and reads lines until `read` understands one; everything else on stderr waits meanwhile. */
  ask<T>(question: Question<T>, signal: AbortSignal): Promise<T>;
  /** Everything else on stderr waits until the work is done. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  say(text: string): void;
  /**
   * Runs a shell's command line with a file as its last argument, on the terminal. Ctrl-C is the editor's meanwhile. Undefined
   * if it ended well; otherwise why not. Ends it when the signal aborts, and rejects then.
   */
  runEditor(command: string, path: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface Question<T> {
  readonly text: string;
  /** True: what is typed is not shown. */
  readonly isSecret?: boolean;
  /** Repeats what it is about, for use after the first rows of a tall question have scrolled away. */
  readonly subject?: string;
  /** The lines that say which keys answer it. */
  readonly keys?: string;
  /** Renders the text from its beginning, for the terminal's present width: after that has changed. Absent: it is not repeated. */
  readonly again?: () => MoreOfQuestion;
  /** Text that stands on the line already. */
  readonly initial?: string;
  /** Answer that Ctrl-C gives. Absent: it interrupts the run. */
  readonly cancelled?: T;
  /** Returns the meaning of a line, or, as a string, why it is no answer. `undefined` is Ctrl-D, or a terminal that is gone. */
  read(line: string | undefined): { readonly answer: T } | MoreOfQuestion | string;
}

/** More of the question, and the keys that answer it from here on. */
export interface MoreOfQuestion {
  readonly text: string;
  readonly keys: string;
}

type Interrupts = Pick<SignalListener, "interrupt" | "ignoreInterrupts">;

/**
 * The terminal that controls this process, whatever stdin, stdout and stderr are. Undefined if there is none, and in the
 * background, if a question would stop the process.
 */
export function findTerminal(interrupts: Interrupts): Terminal | undefined {
  const output = openOutput();
  if (!output || !isInForeground()) return undefined;
  return {
    output,
    get columns() {
      return output.columns || 80;
    },
    ask: (question, signal) => holdStderr(() => ask(output, question, { ...interrupts, signal })),
    hold: holdStderr,
    say: (text) => output.write(text),
    runEditor: async (command, path, signal) => {
      const heed = interrupts.ignoreInterrupts();
      try {
        return await runEditor(command, path, signal);
      } finally {
        heed();
      }
    },
  };
}

function openOutput(): WriteStream | undefined {
  try {
    const stream = new WriteStream(openSync("/dev/tty", "w"));
    // A terminal that is gone is no failure of the run: SIGHUP ends it.
    stream.on("error", () => undefined);
    return stream;
  } catch {
    return undefined;
  }
}

const ctrlC = 3;

/** A question with more rows repeats its subject above the keys. */
const tallRows = 20;

async function ask<T>(
  output: WriteStream,
  { text, subject, keys = "", initial, cancelled, isSecret = false, read }: Question<T>,
  { interrupt, signal }: Interrupts & { readonly signal: AbortSignal },
): Promise<T> {
  const input = openTerminalInput();
  const gone = new Promise<undefined>((resolve) => input.once("error", () => resolve(undefined)));
  await dropTypeAhead(input, interrupt);
  if (signal.aborted) input.destroy();
  signal.throwIfAborted();
  const { showKeys, showMessage } = await createWriters(output);
  const isTall = subject !== undefined && text.split("\n").length > tallRows;
  output.write(`${text}${isTall ? `${subject}\n` : ""}${showKeys(keys)}`);
  const echo = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : output;
  const lines = createInterface({ input, output: echo, terminal: true, historySize: 0 });
  // A terminal that is gone fails again as its mode is restored, and the interface repeats each error.
  for (const emitter of [input, lines]) emitter.on("error", () => undefined);
  const release = surviveStops(input, lines);
  let isCancelled = false;
  lines.on("SIGINT", () => {
    isCancelled = cancelled !== undefined;
    if (isCancelled) lines.close();
    else interrupt();
  });
  const closed = Promise.race([gone, new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)))]);
  try {
    for (let given = initial; ; given = undefined) {
      const answered = lines.question("> ", { signal });
      if (given !== undefined) lines.write(given);
      const line = await Promise.race([answered, closed]);
      if (isSecret) output.write("\n");
      if (isCancelled && cancelled !== undefined) {
        output.write("\n");
        return cancelled;
      }
      const result = read(line);
      if (typeof result === "string") output.write(showMessage(result));
      else if ("answer" in result) return result.answer;
      else output.write(`${result.text}\n${subject === undefined ? "" : `${subject}\n`}${showKeys(result.keys)}`);
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  } finally {
    release();
    lines.close();
    input.destroy();
  }
}

/** Returns functions that wrap keys and messages to the terminal's width at the time. */
async function createWriters(output: WriteStream) {
  const { wrapKeys, wrapLines } = await import("../../ui/text/wrap-text.ts");
  const write = (wrap: (text: string, columns: number) => string[]) => (text: string) =>
    text === "" ? "" : `${wrap(text, (output.columns || 80) - 1).join("\n")}\n`;
  return { showKeys: write(wrapKeys), showMessage: write(wrapLines) };
}

/**
 * Ctrl-Z stops the whole job, as a terminal does outside of raw mode. After `fg` the question goes on where it was: the shell has
 * changed the terminal's mode meanwhile, and the line is drawn anew.
 */
function surviveStops(input: ReadStream, lines: Interface): () => void {
  const goOn = () => {
    input.setRawMode(false);
    input.setRawMode(true);
    lines.resume();
    lines.prompt(true);
  };
  lines.on("SIGTSTP", () => {
    input.setRawMode(false);
    process.kill(0, "SIGTSTP");
  });
  process.on("SIGCONT", goOn);
  return () => process.off("SIGCONT", goOn);
}

/** Keys that were pressed before the question was there must not answer it. Ctrl-C interrupts, as before and after. */
async function dropTypeAhead(stream: ReadStream, onInterrupt: () => void): Promise<void> {
  const drop = (keys: Buffer) => void (keys.includes(ctrlC) && onInterrupt());
  stream.setRawMode(true);
  stream.on("data", drop);
  stream.resume();
  await new Promise((resolve) => setTimeout(resolve, 50));
  stream.off("data", drop);
  stream.pause();
  stream.setRawMode(false);
}

/** As git does it: the command is a shell's, so that `code --wait` works. It gets the terminal, whatever the streams of this process are. */
async function runEditor(command: string, path: string, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  const terminal = openSync("/dev/tty", "r+");
  try {
    return await new Promise((resolve, reject) => {
      const editor = spawn("/bin/sh", ["-c", scriptOf(command), "sh", path], { stdio: [terminal, terminal, terminal] });
      const end = () => editor.kill("SIGTERM");
      signal.addEventListener("abort", end, { once: true });
      editor.on("error", reject);
      editor.on("close", (code, killedBy) => {
        signal.removeEventListener("abort", end);
        if (signal.aborted) reject(signal.reason);
        else resolve(describeEnd(code, killedBy));
      });
    });
  } finally {
    closeSync(terminal);
  }
}

/** The shell makes way for a single command: one that waits for the editor would report the editor's Ctrl-C as its end, and is what a signal ends. */
function scriptOf(command: string): string {
  return /[;&|()\n]/.test(command) ? `${command} "$1"` : `exec env ${command} "$1"`;
}

function describeEnd(code: number | null, killedBy: string | null): string | undefined {
  if (code === 0) return undefined;
  const how = killedBy === null ? `with the exit code ${code}` : `by ${killedBy}`;
  return `The editor ended ${how}. The arguments stay as they are.`;
}
