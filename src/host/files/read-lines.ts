import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { splitLines } from "../../util/text/split-lines.ts";
import { SystemError } from "./system-error.ts";

/** Yields the lines of a regular file as it is now, as `splitLines` does; a file that replaces it meanwhile changes nothing. */
export async function* readLines(path: string): AsyncGenerator<string, void> {
  // A pipe without a writer opens at once, and is refused then.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new SystemError(stats.isDirectory() ? "EISDIR" : "ENXIO", "this is no regular file");
    yield* splitLines(file.createReadStream({ autoClose: false, start: 0 }));
  } finally {
    await file.close();
  }
}
