import type { EventSink, RunEvent } from "../../protocol/event.ts";
import { escapeText } from "../../util/escape-text.ts";
import { callLabel } from "../call-label.ts";
import { renderEvent } from "./render-event.ts";

export interface TextPrinterOptions {
  /** 1: calls, approvals and usage. 2: also text as it comes. */
  readonly verbosity: number;
  readonly write: (text: string) => void;
}

/** Prints a run as lines while it happens. Text of parallel calls is kept apart by naming the call where it changes. */
export function createTextPrinter({ verbosity, write }: TextPrinterOptions): EventSink {
  let streaming: string | undefined;
  const endStream = () => {
    if (streaming !== undefined) write("\n");
    streaming = undefined;
  };
  const stream = (event: RunEvent & { readonly text: string }) => {
    const of = `${event.callPath} ${event.type}`;
    if (streaming !== of) {
      endStream();
      write(`${callLabel(event.callPath)}${event.type === "reasoning-delta" ? " thinks" : ""}: `);
    }
    streaming = of;
    write(escapeText(event.text, { keepNewlines: true, keepBackslashes: true }));
  };
  return (event) => {
    if (event.type === "text-delta" || event.type === "reasoning-delta") {
      if (verbosity >= 2) stream(event);
      return;
    }
    const line = renderEvent(event);
    if (line === undefined) return;
    endStream();
    write(`${line}\n`);
  };
}
