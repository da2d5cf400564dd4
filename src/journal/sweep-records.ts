import type { Host, HostFiles } from "../host/host.ts";
import { getOrMake } from "../util/get-or-make.ts";

/** How many of the latest runs are looked at, about 50 µs each: a program that ran often has thousands. Names of runs begin with their time. */
const latest = 64;

/** The folders of a run in which files are replaced, beside its own. */
const within = ["blobs", "artifacts"];

const sweptBy = new WeakMap<HostFiles, Set<string>>();

/**
 * Removes the temporaries and locks that killed processes left in the records of a program's latest runs: once on a host for each folder
 * of runs. Never rejects.
 */
export async function sweepRecords({ files }: Pick<Host, "files">, runs: string): Promise<void> {
  const seenTo = getOrMake(sweptBy, files, () => new Set());
  if (seenTo.has(runs)) return;
  seenTo.add(runs);
  // The next process tries again.
  await files.removeLeftOvers(runs, { latest, within }).catch(() => undefined);
}
