import { readLines } from "../host/files/read-lines.ts";
import { type Case, parseCase } from "./case-file.ts";

/** Yields the cases of a worker's case file, in its order. Rejects with a `CaseLineError` at its first broken line. */
export async function* readCaseFile(path: string, worker: string): AsyncGenerator<Case, void> {
  let line = 0;
  for await (const text of readLines(path)) {
    const one = parseCase(text, ++line, { worker });
    if (one) yield one;
  }
}
