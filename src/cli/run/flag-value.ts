import { closeSync, openSync, readSync, statSync } from "node:fs";
import { clipText } from "../../util/text/clip-text.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { UsageError } from "../exit-codes.ts";
import { longestText, type ReadOptions, readStdin } from "./read-stdin.ts";

/** A value of a flag: a text, `@FILE` for what a file holds, `@-` for stdin, `@@` for a text that begins with `@`. */
export interface FlagValue {
  /** As it was written, for messages: `-i deck=@x.json`. */
  readonly flag: string;
  readonly text: string;
}

/** Returns true if the value is read from stdin. */
export function takesStdin({ text }: FlagValue): boolean {
  return text === "@-";
}

/** Reads the value. Throws a `UsageError` that names the flag. */
export async function readFlagValue(value: FlagValue, options: ReadOptions): Promise<string> {
  const { text } = value;
  if (text.startsWith("@@")) return text.slice(1);
  if (!text.startsWith("@")) return text;
  if (!takesStdin(value)) return readFile(value);
  if (process.stdin.isTTY) throw new UsageError(`${nameOf(value)}: this reads stdin, and stdin is a terminal`);
  return readStdin(nameOf(value), options);
}

/** The flag for messages; a value can be long. */
export function nameOf({ flag }: FlagValue): string {
  return clipText(flag, 80, "...");
}

function readFile(value: FlagValue): string {
  const path = value.text.slice(1);
  const expected = "@FILE, @- for stdin, or @@ for a text that begins with @";
  if (path === "") throw new UsageError(`${nameOf(value)}: there is no file's name after @; write ${expected}`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`${nameOf(value)}: there is no file ${path}; write ${expected}`);
  if (stats.isDirectory()) throw new UsageError(`${nameOf(value)}: ${path} is a folder`);
  if (stats.isCharacterDevice() || stats.isBlockDevice()) throw new UsageError(`${nameOf(value)}: ${path} is a device`);
  try {
    const bytes = readAtMost(path, longestText + 1);
    if (bytes.length > longestText)
      throw new UsageError(`${nameOf(value)}: ${path} is longer than ${formatCount(longestText)} bytes`);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    throw new UsageError(`${nameOf(value)}: ${path} cannot be read as UTF-8 text: ${errorMessage(thrown)}`);
  }
}

/** A named pipe is waited for: shells pass `<(command)` as one. */
function readAtMost(path: string, limit: number): Uint8Array {
  const descriptor = openSync(path, "r");
  try {
    const chunks: Uint8Array[] = [];
    for (let total = 0; total < limit; ) {
      const chunk = new Uint8Array(Math.min(65_536, limit - total));
      const read = readSync(descriptor, chunk);
      if (read === 0) break;
      chunks.push(chunk.subarray(0, read));
      total += read;
    }
    return Buffer.concat(chunks);
  } finally {
    closeSync(descriptor);
  }
}
