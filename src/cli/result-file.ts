import { statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createNodeHost } from "../host/node-host.ts";
import { errorMessage } from "../util/error-message.ts";
import { UsageError } from "./exit-codes.ts";
import { writeResult } from "./output.ts";

/** The run is done, and its result is not where it was to be. */
export class ResultNotWritten extends Error {
  constructor(path: string, cause: unknown) {
    super(`the result could not be written to ${path}, and is on stdout: ${errorMessage(cause)}`, { cause });
    this.name = "ResultNotWritten";
  }
}

/** Throws a `UsageError` where a result could not be written: before the run, and not after it. */
export function checkResultFile(path: string): void {
  if (path === "-") return;
  const folder = dirname(resolve(path));
  if (path === "" || path.endsWith("/") || statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`-o ${path}: this must be a file, and it is a folder`);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`-o ${path}: there is no folder ${folder}`);
}

/**
 * Writes the result to stdout, or whole or not at all to a file. Where that fails the result goes to stdout, so that it is not
 * lost, and a `ResultNotWritten` says so.
 */
export async function deliverResult(text: string, path: string | undefined): Promise<void> {
  if (path === undefined || path === "-") return writeResult(text);
  const target = resolve(path);
  try {
    // A device or a pipe cannot be replaced by a file.
    if (statSync(target, { throwIfNoEntry: false })?.isFile() === false) await writeFile(target, text);
    else await createNodeHost().files.writeAtomically(target, text);
  } catch (thrown) {
    await writeResult(text);
    throw new ResultNotWritten(path, thrown);
  }
}
