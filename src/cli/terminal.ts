import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { ReadStream } from "node:tty";

/** The terminal that a person sits at; never a pipe. */
export interface Terminal {
  write(text: string): void;
  /** One line, typed after the question was shown: what was typed before is dropped. Rejects with the signal's reason. */
  ask(question: string, signal: AbortSignal): Promise<string>;
}

export interface TerminalOptions {
  /** Ctrl-C at the question. */
  readonly onInterrupt: () => void;
}

/** The terminal of this process, if a person can be asked there: stderr shows the question, stdin or the controlling terminal answers. */
export function findTerminal(options: TerminalOptions): Terminal | undefined {
  if (!process.stderr.isTTY) return undefined;
  const open = process.stdin.isTTY
    ? () => ({ stream: process.stdin, close: () => process.stdin.pause() })
    : openControllingTerminal();
  return (
    open && {
      write: (text) => process.stderr.write(text),
      ask: (question, signal) => ask(open(), question, { ...options, signal }),
    }
  );
}

interface OpenInput {
  readonly stream: ReadStream;
  readonly close: () => void;
}

function openControllingTerminal(): (() => OpenInput) | undefined {
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

async function ask(
  { stream, close }: OpenInput,
  question: string,
  { onInterrupt, signal }: TerminalOptions & { readonly signal: AbortSignal },
): Promise<string> {
  await dropTypeAhead(stream);
  const lines = createInterface({ input: stream, output: process.stderr, terminal: true });
  lines.on("SIGINT", onInterrupt);
  const ended = new Promise<never>((_, reject) => lines.once("close", () => reject(new Error("the terminal was closed"))));
  try {
    return await Promise.race([lines.question(question, { signal }), ended]);
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  } finally {
    ended.catch(() => undefined);
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
