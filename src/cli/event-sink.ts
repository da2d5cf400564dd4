import { closeSync, openSync, writeSync } from "node:fs";
import type { EventSink, RunEvent } from "../protocol/event.ts";
import { createTextPrinter } from "../ui/headless/text-printer.ts";
import { errorMessage } from "../util/error-message.ts";
import { escapeUnseen } from "./escape-unseen.ts";
import { UsageError } from "./exit-codes.ts";
import { writeStderr, writeStderrAsIs } from "./output.ts";

/** The event listeners of a run on the command line. */
export interface Listeners {
  /** Undefined where nobody does. */
  readonly onEvent: EventSink | undefined;
  close(): void;
}

export interface ListenOptions {
  readonly verbosity: number;
  /** Nothing is told on stderr, calls that are debugged included. */
  readonly quiet: boolean;
  /** A file, or `-` for stderr: one JSON object a line. */
  readonly events: string | undefined;
}

/** Opens what `-v` and `--events` ask for. Throws a `UsageError` where the file cannot be written. */
export function openListeners({ verbosity, quiet, events }: ListenOptions): Listeners {
  const file = events === undefined || events === "-" ? undefined : openEventFile(events);
  const sinks: EventSink[] = [];
  if (!quiet) sinks.push(createTextPrinter({ verbosity, write: writeStderr }));
  if (file) sinks.push(file.write);
  else if (events !== undefined) sinks.push((event) => writeStderrAsIs(renderEventLine(event)));
  const onEvent: EventSink = (event) => {
    for (const sink of sinks) sink(event);
  };
  return { onEvent: sinks.length > 0 ? onEvent : undefined, close: () => file?.close() };
}

/** Journals and events tell what files held: only their owner may read them. */
const ownerOnly = 0o600;

function openEventFile(path: string): { readonly write: EventSink; close(): void } {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "w", ownerOnly);
  } catch (thrown) {
    throw new UsageError(`--events=${path}: this must be a file that can be written; ${errorMessage(thrown)}`);
  }
  const close = () => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  const write = (event: RunEvent) => {
    if (descriptor === undefined) return;
    try {
      writeWhole(descriptor, Buffer.from(renderEventLine(event)));
    } catch (thrown) {
      writeStderr(`llm-do: warning: no more events are written to ${path}: ${errorMessage(thrown)}\n`);
      close();
    }
  };
  return { write, close };
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

/** One line of JSON, which reads back as the event and does nothing to a terminal. */
export function renderEventLine(event: RunEvent): string {
  return `${escapeUnseen(JSON.stringify(event))}\n`;
}
