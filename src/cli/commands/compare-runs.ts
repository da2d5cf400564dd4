import { beyondTolerance, compareRuns } from "../../boundary/compare-runs.ts";
import { expandTexts } from "../../journal/expand-texts.ts";
import { readJournal } from "../../journal/read-journal.ts";
import { renderRunsComparison } from "../../ui/render-runs-comparison.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { findRun } from "../find-runs.ts";
import { renderJson, writeResult, writeStderr } from "../output.ts";

export interface CompareRunsFlags {
  readonly tolerance?: number;
  readonly json?: boolean;
}

/** `llm-do runs compare A B`: 1 where --tolerance is given, and the second run did something else or took more. */
export async function compareRunsCommand(first: string, second: string, flags: CompareRunsFlags): Promise<number> {
  const { tolerance, json } = flags;
  const found = compareRuns(await readRun(first), await readRun(second));
  const beyond = tolerance === undefined ? [] : beyondTolerance(found, tolerance);
  await writeResult(json ? renderJson({ v: 1, ...found, beyond }) : renderRunsComparison(found));
  if (beyond.length === 0) return exitCodes.done;
  writeStderr(`llm-do: beyond --tolerance ${tolerance}: ${beyond.join(", ")}\n`);
  return exitCodes.failed;
}

/** In bytes: of one text, and of all texts that are kept beside a journal. */
const bounds = { longest: 20_000_000, total: 200_000_000 };

async function readRun(run: string) {
  const { runId, store } = await findRun({ run, target: undefined });
  return store.look(runId, async (record) => {
    const { version, entries } = await readJournal(record);
    if (version === 1) throw new UsageError(`${runId} is of an older llm-do, whose runs cannot be compared`);
    const kept = entries.filter(({ type }) => type === "run-start" || type === "run-end" || type === "verdict");
    const last = entries.at(-1);
    const expanded = await expandTexts(record, { ...bounds, entries: kept });
    // The time of the last entry is that of the run, where it did not end.
    return last && kept.at(-1) !== last ? [...expanded, last] : expanded;
  });
}
