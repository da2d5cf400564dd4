import type { CallPath } from "../../protocol/call.ts";
import type { EventSink, RunEvent } from "../../protocol/event.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { callLabel } from "../text/call-label.ts";
import { renderLines } from "../text/render-lines.ts";
import { renderDetail } from "./render-detail.ts";
import { renderEvent } from "./render-event.ts";

export interface TextPrinterOptions {
  /**
   * 0: calls that are debugged, long waits for a provider, and nothing else. 1: calls, approvals and usage. 2: also text as it
   * comes.
   */
  readonly verbosity: number;
  readonly write: (text: string) => void;
}

/** Prints a run as lines while it happens. Text of parallel calls is kept apart by naming the call where it changes. */
export function createTextPrinter({ verbosity, write }: TextPrinterOptions): EventSink {
  const isDebugged = trackDebugged();
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
  const text = (event: RunEvent, debugged: boolean): string => {
    const line = verbosity > 0 || debugged || isLongWait(event) ? renderEvent(event) : undefined;
    const isStreamed = event.type === "turn-end" && verbosity >= 2;
    const detail = debugged && !isStreamed ? renderDetail(event) : "";
    if (line === undefined) return detail === "" ? "" : `${renderLines([callLabel(event.callPath)])}${detail}`;
    return `${renderLines([line])}${detail}`;
  };
  return (event) => {
    if (event.type === "text-delta" || event.type === "reasoning-delta") {
      if (verbosity >= 2) stream(event);
      return;
    }
    const printed = text(event, isDebugged(event));
    if (printed === "") return;
    endStream();
    write(printed);
  };
}

/** A run that stands still for longer would look as if it hung. */
const unnoticedMilliseconds = 3000;

function isLongWait(event: RunEvent): boolean {
  return event.type === "retry" && event.delayMilliseconds > unnoticedMilliseconds;
}

/** Returns whether an event belongs to a call that is debugged. Events of a tool belong to the worker or code that called it. */
function trackDebugged(): (event: RunEvent) => boolean {
  const calls = new Map<CallPath, boolean>();
  return (event) => {
    if (event.type === "run-start" || event.type === "run-end") return false;
    if (event.type === "call-start") calls.set(event.callPath, event.detail !== undefined);
    let path = event.callPath;
    while (!calls.has(path) && path.includes("/")) path = path.slice(0, path.lastIndexOf("/"));
    const isDebugged = calls.get(path) ?? false;
    if (event.type === "call-end") calls.delete(event.callPath);
    return isDebugged;
  };
}
