import { join } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { readJournal, readJournalEnds } from "../../journal/read-journal.ts";
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
  const host = createNodeHost();
  const contents = (await isEmpty(directory)) ? nothing : await readJournal(host, directory);
  await writeResult(
    json
      ? contents.entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")
      : renderJournal(contents, process.stdout.columns || 80),
  );
  return 0;
}

async function describeRun(runId: string, directory: string): Promise<{ readonly runId: string; readonly summary: string }> {
  try {
    return {
      runId,
      summary: summarizeJournal((await isEmpty(directory)) ? nothing : await readJournalEnds(createNodeHost(), directory)),
    };
  } catch (thrown) {
    return { runId, summary: thrown instanceof Error ? `unreadable: ${thrown.message}` : "unreadable" };
  }
}

const nothing = { version: 2, entries: [], problems: new Map<number, string>(), torn: false } as const;

/** A run that was killed as it began has a folder and no journal. */
async function isEmpty(directory: string): Promise<boolean> {
  return (await createNodeHost().files.kind(join(directory, "journal.jsonl"))) === undefined;
}
