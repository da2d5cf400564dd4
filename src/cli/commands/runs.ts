import { basename, dirname, join, resolve } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { runsDirectories } from "../../journal/journal-directory.ts";
import { type JournalContents, readJournal } from "../../journal/read-journal.ts";
import type { JournalEntry } from "../../protocol/fact.ts";
import { renderJournal, summarizeJournal } from "../../ui/render-journal.ts";
import { UsageError } from "../exit-codes.ts";
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
  const runs = await findRuns(target);
  const runId = run === "last" ? [...runs.keys()].at(-1) : run;
  const directory = runId === undefined ? undefined : runs.get(runId);
  if (runId === undefined || directory === undefined) {
    const which = run === "last" ? "no run" : `no run \`${run}\``;
    throw new UsageError(`there is ${which} of \`${target}\`; \`llm-do runs list ${target}\` names what there is`);
  }
  const contents = await read(directory);
  await writeResult(
    json
      ? contents.entries.map((entry: JournalEntry) => `${JSON.stringify(entry)}\n`).join("")
      : renderJournal(contents, process.stdout.columns || 80),
  );
  return 0;
}

async function findRuns(target: string): Promise<ReadonlyMap<string, string>> {
  const host = createNodeHost();
  const path = resolve(host.workingDirectory, target);
  if ((await host.files.kind(path)) === undefined) throw new UsageError(`there is no \`${target}\``);
  const root = path.endsWith(".worker") ? programOf(path) : path;
  const found = new Map<string, string>();
  for (const directory of await runsDirectories(host, root)) {
    for (const name of await host.files.names(directory)) found.set(name, join(directory, name));
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Helpers lie in `workers/` below the program's folder. */
function programOf(worker: string): string {
  const folder = dirname(worker);
  return basename(folder) === "workers" ? dirname(folder) : folder;
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
  if ((await host.files.kind(join(directory, "journal.jsonl"))) === undefined) return { entries: [], torn: false };
  return readJournal(host, directory);
}
