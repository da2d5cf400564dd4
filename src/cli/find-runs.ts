import { basename, dirname, join, resolve } from "node:path";
import { createNodeHost } from "../host/node-host.ts";
import { runsDirectories } from "../journal/journal-directory.ts";
import { UsageError } from "./exit-codes.ts";

/** The folders of a program's runs by their ids, oldest first. Rejects with a `UsageError` where there is no such target. */
export async function findRuns(target: string): Promise<ReadonlyMap<string, string>> {
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

/** One run of a program. `last` is the newest. Rejects with a `UsageError` where there is none. */
export async function findRun(run: string, target: string): Promise<string> {
  const runs = await findRuns(target);
  const directory = run === "last" ? [...runs.values()].at(-1) : runs.get(run);
  if (directory !== undefined) return directory;
  const which = run === "last" ? "no run" : `no run \`${run}\``;
  throw new UsageError(`there is ${which} of \`${target}\`; \`llm-do runs list ${target}\` names what there is`);
}

/** Helpers lie in `workers/` below the program's folder. */
function programOf(worker: string): string {
  const folder = dirname(worker);
  return basename(folder) === "workers" ? dirname(folder) : folder;
}
