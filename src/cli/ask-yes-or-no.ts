import { Interrupted, UsageError } from "./exit-codes.ts";
import { listenForSignals } from "./signals.ts";
import { findTerminal } from "./terminal.ts";

export interface YesOrNo {
  /** Renders the question, with what it is about. */
  readonly render: (columns: number) => string;
  /** Names the flags that do without the question. */
  readonly otherwise: string;
}

/** Asks at the terminal. Rejects with a `UsageError` where there is none. */
export async function askYesOrNo({ render, otherwise }: YesOrNo): Promise<boolean> {
  const controller = new AbortController();
  const { interrupt: onInterrupt, ignoreInterrupts, close } = listenForSignals((name) => controller.abort(new Interrupted(name)));
  try {
    const terminal = findTerminal({ onInterrupt, ignoreInterrupts });
    if (!terminal) throw new UsageError(`there is no terminal to ask at: ${otherwise}`);
    const text = `\n${render(terminal.columns)}\n  yes  do it\n  no   leave everything as it is\n`;
    return await terminal.ask({ text, read: readAnswer }, controller.signal);
  } finally {
    close();
  }
}

function readAnswer(line: string | undefined): { readonly answer: boolean } | string {
  const word = line?.trim().toLowerCase();
  if (word === "y" || word === "yes") return { answer: true };
  return word === undefined || word === "n" || word === "no" ? { answer: false } : "Answer with yes or no.";
}
