import { lstatSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { UsageError } from "../exit-codes.ts";
import { writeResult, writeStderr } from "../output.ts";

/** Throws a `UsageError` if a result, or what lies beside it in a folder, could not be written: before the run, not after. */
export function checkResultFile(path: string): void {
  if (path === "-") return;
  const folder = dirname(resolve(path));
  if (isFolder(path)) return;
  if (path === "" || path.endsWith("/")) throw new UsageError(`-o ${path}: there is no such folder`);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`-o ${path}: there is no folder ${folder}`);
}

/**
 * Writes the result to stdout, or whole or not at all to a file: in a folder, under `name`. Where that fails the result goes to
 * stdout, so that it is not lost, stderr says so, and the answer is false.
 */
export async function deliverResult(text: string, given: string | undefined, name = "result.txt"): Promise<boolean> {
  const path = given !== undefined && isFolder(given) ? join(given, name) : given;
  if (path === undefined || path === "-") await writeResult(text);
  else {
    try {
      if (path !== given && isLink(path)) throw new Error("there is a link of this name, which is not followed");
      await writeFileWhole(resolve(path), text);
    } catch (thrown) {
      await writeResult(text);
      const why = escapeText(errorMessage(thrown), { keepBackslashes: true });
      writeStderr(`llm-do: -o ${path}: the result could not be written there, and is on stdout: ${why}\n`);
      return false;
    }
  }
  return true;
}

/** Checked for names that the user did not choose: a program or a command can have made the link. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

export function isFolder(path: string): boolean {
  return path !== "" && path !== "-" && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A device or a pipe takes the text; no file can be put in its place. */
async function writeFileWhole(path: string, text: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) await writeFile(path, text);
  else await createNodeHost().files.writeAtomically(path, text);
}
