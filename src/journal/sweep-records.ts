import { join } from "node:path";
import type { Host } from "../host/host.ts";

/** How many of the latest runs are looked at: a program that ran often has thousands. */
const latestRuns = 16;

/** The folders of a run in which files are replaced. */
const written = ["", "blobs", "artifacts"];

/** Folders of runs that this process has seen to. */
const seenTo = new Set<string>();

/**
 * Removes the temporaries that killed processes left in the records of a program's latest runs: once in a process for each folder of runs.
 * Never rejects.
 */
export async function sweepRecords({ files }: Pick<Host, "files">, runs: string): Promise<void> {
  if (seenTo.has(runs)) return;
  seenTo.add(runs);
  try {
    // Names of runs begin with their time.
    const latest = (await files.names(runs)).slice(-latestRuns);
    await Promise.all(latest.flatMap((id) => written.map((name) => sweep(files, join(runs, id, name)))));
  } catch {
    // The next process tries again.
  }
}

async function sweep(files: Host["files"], folder: string): Promise<void> {
  const names = await files.names(folder);
  if (names.some((name) => name.endsWith(".tmp"))) await files.removeLeftOvers(folder);
}
