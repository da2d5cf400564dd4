import { join } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { findEntryProblem } from "../../journal/fact-fields.ts";
import { type JournalContents, type JournalEnds, readJournal, readJournalEnds } from "../../journal/read-journal.ts";
import { type ListedRun, listRun, renderListedRun } from "../../ui/list-run.ts";
import { renderJournal, summarizeJournal } from "../../ui/render-journal.ts";
import { type FoundRun, findRun, findRuns } from "../find-runs.ts";
import { writeResult, writeStderr } from "../output.ts";

export interface RunsFlags {
  readonly json?: boolean;
}

export interface ListFlags extends RunsFlags {
  /** The most runs. */
  readonly number?: number;
}

/** The default number of runs that are listed over all programs. */
const latest = 20;

/** `llm-do runs list`: the runs of a program, or the latest ones of this user, oldest first. */
export async function listRunsCommand(target: string | undefined, { json, number }: ListFlags): Promise<number> {
  const runs = await describeRuns(target, number ?? (target === undefined ? latest : undefined));
  if (json) await writeResult(`${JSON.stringify({ v: 1, runs }, undefined, 2)}\n`);
  else if (runs.length === 0) writeStderr(`llm-do: no runs${target === undefined ? "" : ` of ${target}`}\n`);
  else await writeResult(runs.map((run) => renderListedRun(run, process.stdout.columns || 80)).join(""));
  return 0;
}

/** The last runs of a program, or of this user, oldest first. Default for `most`: all. */
export async function describeRuns(target: string | undefined, most?: number): Promise<readonly ListedRun[]> {
  const found = await findRuns(target);
  const runs: ListedRun[] = [];
  for (const run of most === undefined ? found : found.slice(Math.max(0, found.length - most))) runs.push(await describeRun(run));
  return runs;
}

/** `llm-do runs show RUN`: how far a run got. `last` is the newest, without a target of all programs. */
export async function showRunCommand(run: string, target: string | undefined, { json }: RunsFlags): Promise<number> {
  const directory = await findRun(run, target);
  const host = createNodeHost();
  const contents = (await isEmpty(directory)) ? nothing : await readJournal(host, directory);
  await writeResult(
    json
      ? contents.entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")
      : renderJournal(contents, process.stdout.columns || 80),
  );
  return 0;
}

async function describeRun({ runId, directory, root }: FoundRun): Promise<ListedRun> {
  try {
    const ends = (await isEmpty(directory)) ? nothing : await readJournalEnds(createNodeHost(), directory);
    const { version, first, entryCall, last } = ends;
    const isWhole = [first, entryCall, last].every((entry) => entry === undefined || findEntryProblem(entry) === undefined);
    if (version === 2 && isWhole) return { runId, folder: root, ...listRun(ends) };
    return { runId, folder: root, outcome: version === 2 ? "unreadable" : "old", summary: summarizeJournal(ends) };
  } catch (thrown) {
    const summary = thrown instanceof Error ? `unreadable: ${thrown.message}` : "unreadable";
    return { runId, folder: root, outcome: "unreadable", summary };
  }
}

const nothing: JournalContents & JournalEnds = { version: 2, entries: [], problems: new Map<number, string>(), torn: false };

/** A run that was killed as it began has a folder and no journal. */
async function isEmpty(directory: string): Promise<boolean> {
  return (await createNodeHost().files.kind(join(directory, "journal.jsonl"))) === undefined;
}
