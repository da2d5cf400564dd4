import { join, resolve } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { runsDirectories } from "../../journal/journal-directory.ts";
import { type JournalContents, readJournal } from "../../journal/read-journal.ts";
import type { JournalEntry } from "../../protocol/journal-entry.ts";
import { renderJournal, summarizeJournal } from "../../ui/render-journal.ts";
import { UsageError } from "../exit-codes.ts";
import { writeResult, writeStderr } from "../output.ts";

export interface RunsFlags {
  /** The program's folder. */
  readonly program: string;
  readonly json?: boolean;
}

/** `llm-do runs list`: a line for each run of a program, oldest first. */
export async function listRunsCommand({ program, json }: RunsFlags): Promise<number> {
  const runs = await findRuns(program);
  const rows = [];
  for (const [runId, directory] of runs) rows.push(await describeRun(runId, directory));
  if (json) await writeResult(`${JSON.stringify(rows, undefined, 2)}\n`);
  else if (rows.length === 0) writeStderr(`llm-do: no runs in ${program}\n`);
  else await writeResult(rows.map(({ runId, summary }) => `${runId}  ${summary}\n`).join(""));
  return 0;
}

/** `llm-do runs show RUN`: how far a run got. `last` is the newest. */
export async function showRunCommand(run: string, { program, json }: RunsFlags): Promise<number> {
  const runs = await findRuns(program);
  const runId = run === "last" ? [...runs.keys()].at(-1) : run;
  const directory = runId === undefined ? undefined : runs.get(runId);
  if (runId === undefined || directory === undefined) {
    throw new UsageError(`there is no run \`${run}\` of ${program}; \`llm-do runs list\` names them`);
  }
  const contents = await read(directory);
  await writeResult(
    json ? contents.entries.map((entry: JournalEntry) => `${JSON.stringify(entry)}\n`).join("") : renderJournal(contents),
  );
  return 0;
}

async function findRuns(program: string): Promise<ReadonlyMap<string, string>> {
  const host = createNodeHost();
  const root = resolve(host.workingDirectory, program.endsWith(".worker") ? join(program, "..") : program);
  const found = new Map<string, string>();
  for (const directory of runsDirectories(host, root)) {
    for (const name of await host.files.names(directory)) found.set(name, join(directory, name));
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function describeRun(runId: string, directory: string): Promise<{ readonly runId: string; readonly summary: string }> {
  try {
    return { runId, summary: summarizeJournal(await read(directory)) };
  } catch (thrown) {
    return { runId, summary: thrown instanceof Error ? `unreadable: ${thrown.message}` : "unreadable" };
  }
}

function read(directory: string): Promise<JournalContents> {
  return readJournal(createNodeHost(), directory);
}
