import { escapeText } from "../util/text/escape-text.ts";

/** A file of a run cannot be read: names the line and its problem. */
export class UnreadableJournal extends Error {
  constructor(path: string, line: number | "last line", problem: string) {
    // A problem can quote the record, which begins no line of its own in a message.
    super(escapeText(`${path}:${line}: ${problem}`, { keepBackslashes: true }));
    this.name = "UnreadableJournal";
  }
}
