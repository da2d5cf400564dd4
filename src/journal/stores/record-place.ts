import type { AppendFile, FileEnds } from "../../host/host.ts";
import { escapeText } from "../../util/text/escape-text.ts";

/** The logs of a record: its entries, the values of its secrets, and the writes of its file tools. */
export type LogName = "journal.jsonl" | "secrets.jsonl" | "writes.jsonl";

/**
 * What a record keeps beside that, each content under one name: long values by their digest, what holds a secret by its digest with the
 * run's key, whole results that were cut, the files that providers made, and pages about it.
 */
export type PartName = "blobs" | "private" | "results" | "artifacts" | "pages";

/** The record of one run, to be looked at. */
export interface RecordReader {
  readonly id: string;
  /** Names the record to a person. */
  readonly path: string;
  /** Whether a process executes the run, where the store knows that. Default: the process that the journal names is looked at. */
  readonly isExecuted?: boolean;
  /** Undefined if there is none. Rejects with `EFBIG` above 200 MB. */
  readLog(name: LogName): Promise<string | undefined>;
  /** At most `bytes` at each end of the journal; undefined if there is none. */
  readEnds(bytes: number): Promise<FileEnds | undefined>;
  /** Rejects if it is gone. `name` is checked to be one name, whatever it holds. */
  readPart(part: PartName, name: string): Promise<Uint8Array>;
  /** At most the first `bytes`. */
  readStart(part: PartName, name: string, bytes: number): Promise<Pick<FileEnds, "start" | "bytes">>;
}

/** The record of one run, to be written. */
export interface RecordPlace extends RecordReader {
  openLog(name: LogName): Promise<AppendFile>;
  replaceLog(name: LogName, text: string): Promise<void>;
  writePart(part: PartName, name: string, content: Uint8Array | string): Promise<void>;
  /** Runs a function while nothing else begins to write the record. Rejects with a `CannotResume` if that takes too long. */
  alone<T>(fn: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** In bytes. Long values are kept beside it. */
export const mostOfLog = 200_000_000;

/** Removes a last line that was cut off, as by a kill, so that the log can be appended to. */
export async function cutTail(place: RecordPlace, name: LogName): Promise<void> {
  const text = (await place.readLog(name)) ?? "";
  if (text !== "" && !text.endsWith("\n")) await place.replaceLog(name, text.slice(0, text.lastIndexOf("\n") + 1));
}

/** A run cannot go on: another process executes it, or there is nothing to go on with. */
export class CannotResume extends Error {
  constructor(message: string) {
    // It can quote the record, which begins no line of its own in a message.
    super(escapeText(message, { keepBackslashes: true }));
    this.name = "CannotResume";
  }
}
