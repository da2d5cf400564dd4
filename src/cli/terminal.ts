import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { ReadStream } from "node:tty";
import { holdStderr } from "./output.ts";

/** The terminal that a person sits at; never a pipe. */
export interface Terminal {
  readonly columns: number;
  /** Shows a question and reads lines until `read` understands one; everything else on stderr waits meanwhile. */
  ask<T>(question: Question<T>, signal: AbortSignal): Promise<T>;
}

export interface Question<T> {
  readonly text: string;
  /** What a line means, or, as a string, why it is no answer. `undefined` is Ctrl-D, or a terminal that is gone. */
  read(line: string | undefined): { readonly answer: T } | string;
}

export interface TerminalOptions {
  /** Ctrl-C at the question. */
  readonly onInterrupt: () => void;
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
  { text, read }: Question<T>,
  { onInterrupt, signal }: TerminalOptions & { readonly signal: AbortSignal },
): Promise<T> {
  await dropTypeAhead(stream);
  signal.throwIfAborted();
  process.stderr.write(text);
  const lines = createInterface({ input: stream, output: process.stderr, terminal: true, historySize: 0 });
  lines.on("SIGINT", onInterrupt);
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    for (;;) {
      const line = await Promise.race([lines.question("> ", { signal }), closed]);
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
