import { join } from "node:path";
import type { Host } from "../host/host.ts";
import { isRecord } from "../protocol/json.ts";
import { sha256 } from "../util/sha256.ts";

type IndexHost = Pick<Host, "files" | "stateDirectory">;

/** A folder that holds runs of one program. */
export interface RunsFolder {
  /** Real path. */
  readonly path: string;
  /** The program's folder: real path. */
  readonly root: string;
}

/**
 * Adds a folder of runs to the index in the user's state folder: a file for each, so that processes do not wait for one another. It
 * holds paths and nothing of the runs. `isReal`: the paths lead through no link. Never rejects: a run does not fail because it cannot be
 * listed.
 */
export async function indexRunsFolder(
  { files, stateDirectory }: IndexHost,
  { isReal, ...runs }: RunsFolder & { readonly isReal?: boolean },
): Promise<void> {
  const index = join(stateDirectory, folder);
  try {
    const { path, root } = isReal ? runs : { path: await files.realPath(runs.path), root: await files.realPath(runs.root) };
    const file = join(index, `${sha256(path).slice(0, 32)}.json`);
    if ((await files.kind(file)) !== undefined) return;
    await files.makeDirectory(index, 0o700);
    await files.writeAtomically(file, `${JSON.stringify({ v: 1, path, root })}\n`, 0o600);
  } catch {
    // `runs list TARGET` finds the runs without the index.
  }
}

/**
 * Returns the folders of the index. Removes entries whose folder is gone or has become a link, which a program could have made.
 * Malformed entries are ignored.
 */
export async function indexedRunsFolders({ files, stateDirectory }: IndexHost): Promise<readonly RunsFolder[]> {
  const index = join(stateDirectory, folder);
  const names = await files.names(index);
  const found = await Promise.all(
    names.map(async (name): Promise<readonly RunsFolder[]> => {
      const file = join(index, name);
      const text = await files.readText(file, { maxBytes: mostOfEntry }).catch(() => "");
      const entry = readEntry(text);
      if (entry === undefined) return [];
      if ((await files.realPath(entry.path).catch(() => undefined)) === entry.path) return [entry];
      await files.remove(file).catch(() => undefined);
      return [];
    }),
  );
  return found.flat();
}

const folder = "run-folders";

/** In bytes. */
const mostOfEntry = 100_000;

function readEntry(text: string): RunsFolder | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(text);
  } catch {}
  if (!isRecord(entry) || entry["v"] !== 1) return undefined;
  const { path, root } = entry;
  return typeof path === "string" && typeof root === "string" ? { path, root } : undefined;
}
