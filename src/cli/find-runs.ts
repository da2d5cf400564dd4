import { basename, dirname, join, resolve } from "node:path";
import type { Host } from "../host/host.ts";
import { createNodeHost } from "../host/node-host.ts";
import { runsDirectories } from "../journal/journal-directory.ts";
import { indexedRunsFolders, indexRunsFolder, type RunsFolder } from "../journal/run-index.ts";
import { errorMessage } from "../util/error-message.ts";
import { UsageError } from "./exit-codes.ts";

/** The folder of a run's record. */
export interface FoundRun {
  readonly runId: string;
  readonly directory: string;
  /** The program's folder. */
  readonly root: string;
}

/**
 * The runs of a program, or without a target those of this user, oldest first. Rejects with a `UsageError` where there is no such
 * target.
 */
export async function findRuns(target: string | undefined): Promise<readonly FoundRun[]> {
  const host = createNodeHost();
  const folders = target === undefined ? await indexedRunsFolders(host) : await foldersOf(host, target);
  const found = await Promise.all(
    folders.map(async ({ path, root }) => {
      const names = await host.files.names(path);
      return names.map((runId): FoundRun => ({ runId, directory: join(path, runId), root }));
    }),
  );
  return found.flat().sort((a, b) => (a.runId < b.runId ? -1 : 1));
}

/** Enters the folders in the index, too: runs of an earlier version are not in it. */
async function foldersOf(host: Host, target: string): Promise<readonly RunsFolder[]> {
  const path = resolve(host.workingDirectory, target);
  if ((await host.files.kind(path)) === undefined) throw new UsageError(`there is no \`${target}\``);
  const root = path.endsWith(".worker") ? programOf(path) : path;
  const directories = await runsDirectories(host, root);
  const folders = directories.map((directory) => ({ path: directory, root }));
  for (const folder of folders) if ((await host.files.kind(folder.path)) === "directory") await indexRunsFolder(host, folder);
  return folders;
}

/** The folder of one run; see `findFoundRun`. */
export async function findRun(run: string, target?: string): Promise<string> {
  return (await findFoundRun(run, target)).directory;
}

/** One run of a program, or without a target of this user. `last` is the newest. Rejects with a `UsageError` where there is none. */
export async function findFoundRun(run: string, target?: string): Promise<FoundRun> {
  const runs = await findRuns(target);
  const found = run === "last" ? runs.at(-1) : runs.find(({ runId }) => runId === run);
  if (found !== undefined) return found;
  const which = run === "last" ? "no run" : `no run \`${run}\``;
  const list = target === undefined ? "llm-do runs list" : `llm-do runs list ${target}`;
  throw new UsageError(`there is ${which}${target === undefined ? "" : ` of \`${target}\``}; \`${list}\` names what there is`);
}

/**
 * Reads of a run what says whether `last` means it. Returns undefined where nothing is recorded of it. Rejects with a `UsageError` where it
 * cannot be read: an older run is not the one that was meant.
 */
export async function readLast<T>(
  { runId, root, directory }: FoundRun,
  read: (host: Host) => Promise<T>,
): Promise<T | undefined> {
  const host = createNodeHost();
  if ((await host.files.kind(join(directory, "journal.jsonl"))) === undefined) return undefined;
  return read(host).catch((cause: unknown) => {
    const other = `name the run that you mean, or remove this one: \`llm-do runs rm ${runId}\``;
    throw new UsageError(`the run ${runId} of ${root} cannot be read: ${errorMessage(cause)}; ${other}`);
  });
}

/** Helpers lie in `workers/` below the program's folder. */
function programOf(worker: string): string {
  const folder = dirname(worker);
  return basename(folder) === "workers" ? dirname(folder) : folder;
}
