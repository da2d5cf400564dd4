import { UsageError } from "../exit-codes.ts";
import { writeStderr } from "../output.ts";
import { listenForSignals } from "../process/signals.ts";
import { findTerminal, type Terminal } from "./terminal.ts";

export interface YesOrNo {
  /** Renders the question, with what it is about. */
  readonly render: (columns: number) => string;
  /** Names the flags that do without the question. */
  readonly otherwise: string;
}

/** Asks at the terminal. If there is none, shows what it is about, and rejects with a `UsageError`. */
export function askYesOrNo({ render, otherwise }: YesOrNo): Promise<boolean> {
  const refuse = () => {
    writeStderr(`${render(80)}\n`);
    return `there is no terminal to ask at: ${otherwise}`;
  };
  return atTerminal(refuse, (terminal, signal) => {
    const text = `\n${render(terminal.columns)}\n  yes  do it\n  no   leave everything as it is\n`;
    return terminal.ask({ text, read: readAnswer }, signal);
  });
}

/** Rejects with a `UsageError` that says `why` if there is no terminal. A signal aborts the work. */
export async function atTerminal<T>(
  why: string | (() => string),
  ask: (terminal: Terminal, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using signals = listenForSignals();
  const terminal = findTerminal(signals);
  if (!terminal) throw new UsageError(typeof why === "string" ? why : why());
  return await ask(terminal, signals.controller.signal);
}

function readAnswer(line: string | undefined): { readonly answer: boolean } | string {
  const word = line?.trim().toLowerCase();
  if (word === "y" || word === "yes") return { answer: true };
  return word === undefined || word === "n" || word === "no" ? { answer: false } : "Answer with yes or no.";
}
