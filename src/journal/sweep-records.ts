import type { Host, HostFiles } from "../host/host.ts";
import { getOrMake } from "../util/get-or-make.ts";

/** How many of the latest runs are looked at, about 50 µs each: a program that ran often has thousands. Names of runs begin with their time. */
const latest = 64;

/** The folders of a run in which files are replaced, beside its own. */
const within = ["blobs", "artifacts"];

const sweptBy = new WeakMap<HostFiles, Set<string>>();

/** A process that runs many programs looks at the records of some of them again, and keeps no list of all. */
const mostKept = 256;

/**
 * Removes the temporaries and locks that killed processes left in the records of a program's latest runs: once on a host for each of few
 * folders of runs. Never rejects.
 */
export async function sweepRecords({ files }: Pick<Host, "files">, runs: string): Promise<void> {
  const seenTo = getOrMake(sweptBy, files, () => new Set());
  if (seenTo.has(runs)) return;
  if (seenTo.size >= mostKept) seenTo.clear();
  seenTo.add(runs);
  // The next process tries again.
  await files.removeLeftOvers(runs, { latest, within }).catch(() => undefined);
}
