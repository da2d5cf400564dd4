import { join } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { type JournalContents, readJournal } from "../../journal/read-journal.ts";
import type { JournalEntry } from "../../protocol/fact.ts";
import { renderJournal, summarizeJournal } from "../../ui/render-journal.ts";
import { findRun, findRuns } from "../find-runs.ts";
import { writeResult, writeStderr } from "../output.ts";

export interface RunsFlags {
  readonly json?: boolean;
}

/** `llm-do runs list`: a line for each run of a program, oldest first. */
export async function listRunsCommand(target: string, { json }: RunsFlags): Promise<number> {
  const runs = await findRuns(target);
  const rows = [];
  for (const [runId, directory] of runs) rows.push(await describeRun(runId, directory));
  if (json) await writeResult(`${JSON.stringify(rows, undefined, 2)}\n`);
  else if (rows.length === 0) writeStderr(`llm-do: no runs of ${target}\n`);
  else await writeResult(rows.map(({ runId, summary }) => `${runId}  ${summary}\n`).join(""));
  return 0;
}

/** `llm-do runs show RUN`: how far a run got. `last` is the newest. */
export async function showRunCommand(run: string, target: string, { json }: RunsFlags): Promise<number> {
  const directory = await findRun(run, target);
  const contents = await read(directory);
  await writeResult(
    json
      ? contents.entries.map((entry: JournalEntry) => `${JSON.stringify(entry)}\n`).join("")
      : renderJournal(contents, process.stdout.columns || 80),
  );
  return 0;
}

async function describeRun(runId: string, directory: string): Promise<{ readonly runId: string; readonly summary: string }> {
  try {
    return { runId, summary: summarizeJournal(await read(directory)) };
  } catch (thrown) {
    return { runId, summary: thrown instanceof Error ? `unreadable: ${thrown.message}` : "unreadable" };
  }
}

/** A run that was killed as it began has a folder and no journal. */
async function read(directory: string): Promise<JournalContents> {
  const host = createNodeHost();
  if ((await host.files.kind(join(directory, "journal.jsonl"))) === undefined) return { version: 2, entries: [], torn: false };
  return readJournal(host, directory);
}
