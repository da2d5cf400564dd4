import { compareRunSets, setsBeyondTolerance } from "../../../boundary/compare-run-sets.ts";
import { beyondTolerance, compareRuns, figuresOf, type RunFigures } from "../../../boundary/compare-runs.ts";
import { expandTexts } from "../../../journal/expand-texts.ts";
import { readJournal } from "../../../journal/read-journal.ts";
import { renderRunSets } from "../../../ui/records/render-run-sets.ts";
import { renderRunsComparison } from "../../../ui/records/render-runs-comparison.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { renderJson, writeResult, writeStderr } from "../../output.ts";
import { findRun } from "../../records/find-runs.ts";

export interface CompareRunsFlags {
  readonly tolerance?: number;
  readonly json?: boolean;
}

/** `llm-do runs compare A B`: 1 where --tolerance is given, and the second run, or set of runs, did something else or took more. */
export async function compareRunsCommand(first: string, second: string, flags: CompareRunsFlags): Promise<number> {
  const { tolerance, json } = flags;
  const { found, shown, beyond } = await compareChosen(first.split(","), second.split(","), tolerance);
  await writeResult(json ? renderJson({ v: 1, ...found, beyond }) : shown);
  if (beyond.length === 0) return exitCodes.done;
  writeStderr(`llm-do: beyond --tolerance ${tolerance}: ${beyond.join(", ")}\n`);
  return exitCodes.failed;
}

async function compareChosen(first: readonly string[], second: readonly string[], tolerance: number | undefined) {
  const [one, other] = [first[0] ?? "", second[0] ?? ""];
  if (first.length === 1 && second.length === 1) {
    const found = compareRuns(await readRun(one), await readRun(other));
    const beyond = tolerance === undefined ? [] : beyondTolerance(found, tolerance);
    return { found, beyond, shown: renderRunsComparison(found) };
  }
  if (first.length === 1 || second.length === 1)
    throw new UsageError("a set has two runs or more, as in ID,ID,ID: one run is compared with one");
  const found = compareRunSets(await readFigures(first), await readFigures(second));
  return { found, beyond: tolerance === undefined ? [] : setsBeyondTolerance(found, tolerance), shown: renderRunSets(found) };
}

/** One after another: a journal is let go before the next one is read. */
async function readFigures(runs: readonly string[]): Promise<readonly RunFigures[]> {
  const read: RunFigures[] = [];
  for (const run of runs) read.push(figuresOf(await readRun(run)));
  const ids = new Set(read.map(({ runId }) => runId));
  if (ids.size < read.length) throw new UsageError("a run is named twice in one set");
  return read;
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
