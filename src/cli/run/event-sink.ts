import { closeSync, openSync, writeSync } from "node:fs";
import type { EventSink, RunEvent } from "../../protocol/event.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { ToolErrorType } from "../../protocol/tool.ts";
import { StreamedText } from "../../ui/headless/streamed-text.ts";
import { createTextPrinter } from "../../ui/headless/text-printer.ts";
import { renderResult } from "../../ui/render-result.ts";
import { createRunView, foldEvent } from "../../ui/run-view.ts";
import { callLabel } from "../../ui/text/call-label.ts";
import { renderLines } from "../../ui/text/render-lines.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { UsageError } from "../exit-codes.ts";
import { keepStatus, renderJsonLine, writeStderr, writeStderrAsIs, writeStreamed } from "../output.ts";

/** The event listeners of a run on the command line. */
export interface Listeners extends Disposable {
  readonly onEvent: EventSink;
  /** The text that was streamed last. */
  readonly streamed: () => string | undefined;
}

export interface ListenOptions {
  readonly verbosity: number;
  /** Nothing is told on stderr, calls that are debugged included. */
  readonly quiet: boolean;
  /** A file, or `-` for stderr: one JSON object a line. */
  readonly events: string | undefined;
  /** The entry's text goes to stdout as it comes. Default false. */
  readonly streams?: boolean;
  /** A line at the end of stderr says what goes on. Default false. */
  readonly showsProgress?: boolean;
  /** Gets the events, too. */
  readonly also?: EventSink;
}

/** Opens what `-v` and `--events` ask for. Throws a `UsageError` if the file cannot be written. */
export function openListeners(options: ListenOptions): Listeners {
  const { verbosity, quiet, events, streams = false, showsProgress = false, also } = options;
  const file = events === undefined || events === "-" ? undefined : openEventFile(events);
  const printer = quiet ? undefined : createTextPrinter({ verbosity, write: writeStderr });
  const streamed = streams ? new StreamedText({ write: writeStreamed, onVoid }) : undefined;
  // Events of earlier attempts are in the journal.
  const sinks: EventSink[] = [(event) => event.replayed || streamed?.add(event) || printer?.(event)];
  if (!quiet) sinks.push(createStartNote(verbosity));
  if (!quiet && verbosity === 0) sinks.push(createFailureNote());
  const progress = showsProgress ? startProgress() : undefined;
  if (progress) sinks.push(progress.onEvent);
  if (also) sinks.push(also);
  if (file) sinks.push(file.write);
  else if (events !== undefined) sinks.push((event) => writeStderrAsIs(renderJsonLine(event)));
  const onEvent: EventSink = (event) => {
    for (const sink of sinks) sink(event);
  };
  const close = () => {
    progress?.close();
    file?.close();
  };
  return { onEvent, streamed: () => streamed?.last, [Symbol.dispose]: close };
}

/** Reports what is not as it was when the run began: those warnings come before anything of the run, which is replayed where it goes on. */
function createStartNote(verbosity: number): EventSink {
  let isStart = true;
  return (event) => {
    if (event.type !== "warning") isStart &&= event.type === "run-start";
    else if (isStart && (verbosity === 0 || event.replayed)) writeStderr(renderLines([`llm-do: ${event.message}`]));
  };
}

/** Denials are reported with the questions, and calls that wait or were interrupted have not failed. */
const reportedElsewhere: ReadonlySet<ToolErrorType> = new Set(["denied", "suspended", "aborted"]);

const longestReason = 300;

/** Reports each failed call: a model may go on without its result. Says at the end of the run how many failed. */
function createFailureNote(): EventSink {
  let failed = 0;
  return (event) => {
    if (event.type === "tool-result" && !event.replayed && !event.result.ok) {
      if (reportedElsewhere.has(event.result.error.type)) return;
      failed++;
      const reason = renderResult(event.result as unknown as JsonValue, longestReason);
      writeStderr(renderLines([`llm-do: ${callLabel(event.callPath)} ${reason}`]));
    }
    if (event.type === "run-end" && failed > 1) writeStderr(`llm-do: ${failed} calls failed\n`);
  };
}

function onVoid(reason: string): void {
  writeStderr(`llm-do: the answer begins anew: ${reason}\n`);
}

function startProgress() {
  const view = createRunView();
  const load = () => import("../../ui/headless/render-progress.ts");
  let render: Awaited<ReturnType<typeof load>>["renderProgress"] | undefined;
  const close = keepStatus(() => {
    // Measuring text for a terminal takes long to load, and short runs show no progress.
    if (!render) void load().then((module) => (render = module.renderProgress));
    return render?.(view, { now: Date.now(), columns: process.stderr.columns || 80 });
  });
  return { onEvent: (event: RunEvent) => void foldEvent(view, event), close };
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
      writeWhole(descriptor, Buffer.from(renderJsonLine(event)));
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
