import { basename } from "node:path";
import type { Host } from "../host/host.ts";
import { privateFolderOf } from "./private-folder.ts";
import { readJournal } from "./read-journal.ts";
import { findOwnerState } from "./resume-journal.ts";

/** A run stays: a process executes it, it waits for answers, or it is no run. */
export class CannotRemove extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CannotRemove";
  }
}

/**
 * Removes the record of a run, with its private folder. Rejects with a `CannotRemove` for a run that is under way, that may be so on another
 * machine, or that waits for answers.
 */
export async function removeRun(host: Host, directory: string): Promise<void> {
  const runId = basename(directory);
  if (!runIdPattern.test(runId)) throw new CannotRemove(`\`${runId}\` is no run`);
  const path = `${directory}/journal.jsonl`;
  if ((await host.files.kind(path)) === undefined) return remove(host, directory);
  await host.files.alone(path, async () => {
    const why = await whyItStays(host, directory);
    if (why !== undefined) throw new CannotRemove(`${runId} stays: ${why}`);
    await remove(host, directory);
  });
}

const runIdPattern = /^\d{8}-\d{6}-\w+$/;

async function remove(host: Host, directory: string): Promise<void> {
  // The private folder first: nothing but the run leads to it.
  await host.files.remove(privateFolderOf(host, basename(directory)));
  await host.files.remove(directory);
}

/** Undefined for a run that can be removed. A journal that cannot be read belongs to no process of this llm-do. */
async function whyItStays(host: Host, directory: string): Promise<string | undefined> {
  const read = () =>
    readJournal(host, directory).then(
      ({ unchecked }) => unchecked,
      () => [],
    );
  const state = findOwnerState(host, directory, await read());
  if (state === "runs") return "a process executes it";
  if (state === "unknown") return "it was executed on another machine, and whether it still is cannot be seen here";
  // Read again: the process may have suspended the run since.
  const end = (await read()).findLast(({ type }) => type === "run-end" || type === "attempt");
  const isHeld = end?.type === "run-end" && end.stopReason === "suspended";
  return isHeld ? "it waits for answers" : undefined;
}
