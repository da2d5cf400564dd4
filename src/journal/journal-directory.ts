import { join } from "node:path";
import type { Host } from "../host/host.ts";
import { sha256 } from "../util/sha256.ts";
import { JournalError } from "./journal.ts";

/**
 * The folder of a program's runs: its own `.llm-do/runs`, or, where the program is read-only, one in the user's state folder.
 * Rejects with a `JournalError`.
 */
export async function openRunsDirectory(host: Host, root: string): Promise<string> {
  try {
    return await makeRunsDirectory(host, root);
  } catch (cause) {
    throw new JournalError(cause);
  }
}

async function makeRunsDirectory(host: Host, root: string): Promise<string> {
  const own = join(root, ".llm-do");
  try {
    await host.files.makeDirectory(join(own, "runs"), 0o700);
    const ignore = join(own, ".gitignore");
    if ((await host.files.kind(ignore)) === undefined) await host.files.writeAtomically(ignore, "*\n");
    return join(own, "runs");
  } catch (thrown) {
    if (!isReadOnly(thrown)) throw thrown;
    const [, elsewhere = ""] = runsDirectories(host, root);
    await host.files.makeDirectory(elsewhere, 0o700);
    return elsewhere;
  }
}

/** Where runs of a program can be: its own folder first. */
export function runsDirectories(host: Host, root: string): readonly string[] {
  return [join(root, ".llm-do", "runs"), join(host.stateDirectory, "runs", sha256(root).slice(0, 16))];
}

function isReadOnly(thrown: unknown): boolean {
  const code = (thrown as { code?: unknown } | undefined)?.code;
  return code === "EACCES" || code === "EPERM" || code === "EROFS";
}
