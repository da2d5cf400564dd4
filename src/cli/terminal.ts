import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { ReadStream } from "node:tty";
import { holdStderr } from "./output.ts";
import { runEditor } from "./run-editor.ts";

/** The terminal that a person sits at; never a pipe. */
export interface Terminal {
  readonly columns: number;
  /** Shows a question and reads lines until `read` understands one; everything else on stderr waits meanwhile. */
  ask<T>(question: Question<T>, signal: AbortSignal): Promise<T>;
  /** Everything else on stderr waits until the work is done. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  say(text: string): void;
  /**
   * Runs a shell's command line with a file as its last argument, on the terminal. Ctrl-C is the editor's meanwhile. Undefined
   * where it ended well; otherwise why not. Ends it when the signal aborts, and rejects then.
   */
  runEditor(command: string, path: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface Question<T> {
  readonly text: string;
  /** What stands on the line already. */
  readonly initial?: string;
  /** What Ctrl-C answers. Absent: it interrupts the run. */
  readonly cancelled?: T;
  /** What a line means, or, as a string, why it is no answer. `undefined` is Ctrl-D, or a terminal that is gone. */
  read(line: string | undefined): { readonly answer: T } | string;
}

export interface TerminalOptions {
  /** Ctrl-C at the question. */
  readonly onInterrupt: () => void;
  /** Ctrl-C that is another program's. Gives what ends it. */
  readonly ignoreInterrupts: () => () => void;
}

/** The terminal of this process, if a person can be asked there: stderr shows the question, stdin or the controlling terminal answers. */
export function findTerminal(options: TerminalOptions): Terminal | undefined {
  if (!process.stderr.isTTY) return undefined;
  const open = process.stdin.isTTY ? openStdin : findControllingTerminal();
  if (!open) return undefined;
  return {
    get columns() {
      return process.stderr.columns || 80;
    },
    ask: (question, signal) => holdStderr(() => ask(open(), question, { ...options, signal })),
    hold: holdStderr,
    say: (text) => process.stderr.write(text),
    runEditor: async (command, path, signal) => {
      const heed = options.ignoreInterrupts();
      try {
        return await runEditor(command, path, signal);
      } finally {
        heed();
      }
    },
  };
}

interface OpenInput {
  readonly stream: ReadStream;
  readonly close: () => void;
}

function openStdin(): OpenInput {
  return { stream: process.stdin, close: () => process.stdin.pause() };
}

function findControllingTerminal(): (() => OpenInput) | undefined {
  try {
    closeSync(openSync("/dev/tty", "r"));
  } catch {
    return undefined;
  }
  return () => {
    const stream = new ReadStream(openSync("/dev/tty", "r"));
    return { stream, close: () => stream.destroy() };
  };
}

async function ask<T>(
  { stream, close }: OpenInput,
  { text, initial, cancelled, read }: Question<T>,
  { onInterrupt, signal }: TerminalOptions & { readonly signal: AbortSignal },
): Promise<T> {
  await dropTypeAhead(stream);
  signal.throwIfAborted();
  process.stderr.write(text);
  const lines = createInterface({ input: stream, output: process.stderr, terminal: true, historySize: 0 });
  let isCancelled = false;
  lines.on("SIGINT", () => {
    isCancelled = cancelled !== undefined;
    if (isCancelled) lines.close();
    else onInterrupt();
  });
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    for (let given = initial; ; given = undefined) {
      const answered = lines.question("> ", { signal });
      if (given !== undefined) lines.write(given);
      const line = await Promise.race([answered, closed]);
      if (isCancelled && cancelled !== undefined) {
        process.stderr.write("\n");
        return cancelled;
      }
      const result = read(line);
      if (typeof result !== "string") return result.answer;
      process.stderr.write(`${result}\n`);
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  } finally {
    lines.close();
    close();
  }
}

/** Keys that were pressed before the question was there must not answer it. */
async function dropTypeAhead(stream: ReadStream): Promise<void> {
  const drop = () => undefined;
  stream.setRawMode(true);
  stream.on("data", drop);
  stream.resume();
  await new Promise((resolve) => setTimeout(resolve, 50));
  stream.off("data", drop);
  stream.pause();
  stream.setRawMode(false);
}
