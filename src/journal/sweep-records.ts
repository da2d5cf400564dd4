import { join } from "node:path";
import type { Host, HostFiles } from "../host/host.ts";
import { getOrMake } from "../util/get-or-make.ts";

/** How many of the latest runs are looked at, about 30 µs each: a program that ran often has thousands. */
const latestRuns = 64;

/** The folders of a run in which files are replaced, beside its own. */
const written = ["blobs", "artifacts"];

const sweptBy = new WeakMap<HostFiles, Set<string>>();

/**
 * Removes the temporaries that killed processes left in the records of a program's latest runs: once on a host for each folder of runs.
 * Never rejects.
 */
export async function sweepRecords({ files }: Pick<Host, "files">, runs: string): Promise<void> {
  const seenTo = getOrMake(sweptBy, files, () => new Set());
  if (seenTo.has(runs)) return;
  seenTo.add(runs);
  try {
    // Names of runs begin with their time.
    const latest = (await files.names(runs)).slice(-latestRuns);
    await Promise.all(latest.map((id) => sweep(files, join(runs, id))));
  } catch {
    // The next process tries again.
  }
}

async function sweep(files: HostFiles, run: string): Promise<void> {
  const own = await sweepFolder(files, run);
  for (const name of written) if (own.includes(name)) await sweepFolder(files, join(run, name));
}

/** Returns the names that were in it. */
async function sweepFolder(files: HostFiles, folder: string): Promise<readonly string[]> {
  const names = await files.names(folder);
  if (names.some((name) => name.endsWith(".tmp"))) await files.removeLeftOvers(folder);
  return names;
}
