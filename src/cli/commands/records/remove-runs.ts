import { createNodeHost } from "../../../host/node-host.ts";
import { CannotRemove } from "../../../journal/stores/cannot-remove.ts";
import { importedStore } from "../../../journal/stores/folder-store.ts";
import { renderListedRun } from "../../../ui/records/list-run.ts";
import { exitCodes } from "../../exit-codes.ts";
import { writeResult, writeStderr } from "../../output.ts";
import { type FoundRun, findRun, findRuns, findRunsToChange } from "../../records/find-runs.ts";
import { askYesOrNo } from "../../terminal/ask-yes-or-no.ts";
import { describeRun } from "./runs.ts";

export interface PruneFlags {
  readonly keep: number;
  /** The runs of all programs. */
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `llm-do runs rm RUN…`. Prints the ids of the runs that are gone; returns 1 where one stays. */
export async function removeRunsCommand(names: readonly string[]): Promise<number> {
  const found: FoundRun[] = [];
  for (const name of new Set(names)) found.push(await findRun({ run: name, changes: true, takesForeign: true }));
  return removeAll(found);
}

/** `llm-do runs prune --keep N [TARGET]`. Runs that are under way or wait for answers stay, and are not counted. */
export async function pruneRunsCommand(target: string | undefined, { keep, all, dryRun, yes }: PruneFlags): Promise<number> {
  const old: FoundRun[] = [];
  const found = await (all ? findRuns(target) : findRunsToChange(target));
  for (const [, runs] of Map.groupBy(found, ({ root }) => root)) old.push(...findOld(runs, keep));
  if (old.length === 0) return exitCodes.done;
  if (dryRun) {
    for (const { runId } of old) await writeResult(`${runId}\n`);
    return exitCodes.done;
  }
  const shown = old.slice(0, mostShown).map(describeRun);
  const more = old.length > shown.length ? `and ${old.length - shown.length} more\n` : "";
  const whatToRemove = old.length === 1 ? "Remove the record of this run" : `Remove the records of these ${old.length} runs`;
  const render = (columns: number) => `${shown.map((run) => renderListedRun(run, columns)).join("")}${more}${whatToRemove}?`;
  const isWanted = yes || (await askYesOrNo({ render, otherwise: "--dry-run names the runs, --yes removes them" }));
  return isWanted ? removeAll(old) : exitCodes.failed;
}

const mostShown = 20;

/** All but the newest ones, oldest first, without those that did not end: the store decides on them. */
function findOld(newestFirst: readonly FoundRun[], keep: number): readonly FoundRun[] {
  const ended = newestFirst.filter((run) => !["suspended", "unfinished"].includes(describeRun(run).outcome));
  return ended.slice(keep).toReversed();
}

async function removeAll(runs: readonly FoundRun[]): Promise<number> {
  const imported = importedStore(createNodeHost());
  let exitCode: number = exitCodes.done;
  for (const { runId, store, isForeign } of runs) {
    try {
      // What came from elsewhere is executed by no process, and waits for nobody.
      await (isForeign ? imported.discard(runId) : store.remove(runId));
      await writeResult(`${runId}\n`);
    } catch (thrown) {
      if (!(thrown instanceof CannotRemove)) throw thrown;
      writeStderr(`llm-do: ${thrown.message}\n`);
      exitCode = exitCodes.failed;
    }
  }
  for (const store of new Set(runs.map((run) => run.store))) await store.sweep?.();
  return exitCode;
}
