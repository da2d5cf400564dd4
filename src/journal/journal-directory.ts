import { join } from "node:path";
import type { Host } from "../host/host.ts";
import { nextTurn } from "../host/next-turn.ts";
import { sha256 } from "../util/sha256.ts";
import { JournalError } from "./journal.ts";
import { indexRunsFolder } from "./run-index.ts";

export interface RunsDirectory {
  readonly path: string;
  /** True where the path is known to lead through no link. */
  readonly isReal: boolean;
  /** Set where the program's own folder was not used for a reason that the user should know. */
  readonly warning?: string;
  /** Resolves when the folder is in the index. Never rejects. */
  readonly indexed: Promise<void>;
}

/**
 * The folder of a program's runs: its own `.llm-do/runs`, or one in the user's state folder where the program is read-only or
 * one of the two is a link. Enters it in the user's index of such folders, in the next turn of the event loop. Rejects with a
 * `JournalError`.
 */
export async function openRunsDirectory(host: Host, root: string): Promise<RunsDirectory> {
  try {
    const directory = await makeRunsDirectory(host, root);
    return { ...directory, indexed: nextTurn().then(() => indexRunsFolder(host, { ...directory, root })) };
  } catch (cause) {
    throw new JournalError(cause, true);
  }
}

async function makeRunsDirectory(host: Host, root: string): Promise<Omit<RunsDirectory, "indexed">> {
  const own = join(root, folder);
  const runs = join(own, "runs");
  try {
    // A real path leads through no link.
    const isReal = (await host.files.realPath(runs).catch(() => undefined)) === runs;
    if (isReal) return { path: runs, isReal };
    await host.files.makeOwnDirectory(root, [folder], 0o700);
    const ignore = join(own, ".gitignore");
    // Before the folder of runs, which tells that it is there.
    if ((await host.files.kind(ignore)) === undefined) await host.files.writeAtomically(ignore, "*\n");
    await host.files.makeOwnDirectory(root, [folder, "runs"], 0o700);
    return { path: runs, isReal };
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code !== "ELOOP" && !isReadOnly.has(code)) throw thrown;
    const path = stateRuns(host, root);
    await host.files.makeDirectory(path, 0o700);
    const warning = `${join(own, "runs")} lies behind a link, so this run is recorded in ${path}`;
    return { path, isReal: false, ...(code === "ELOOP" ? { warning } : {}) };
  }
}

/** Lists the folders that can hold runs of a program, its own first. A folder behind a link is not its own. */
export async function runsDirectories({ files, stateDirectory }: Host, root: string): Promise<readonly string[]> {
  const own = join(root, folder, "runs");
  const elsewhere = stateRuns({ stateDirectory }, root);
  const [real, realRoot] = await Promise.all([own, root].map((path) => files.realPath(path).catch(() => undefined)));
  return realRoot !== undefined && real === join(realRoot, folder, "runs") ? [own, elsewhere] : [elsewhere];
}

const folder = ".llm-do";

const isReadOnly = new Set(["EACCES", "EPERM", "EROFS"]);

function stateRuns({ stateDirectory }: Pick<Host, "stateDirectory">, root: string): string {
  return join(stateDirectory, "runs", sha256(root).slice(0, 16));
}

function codeOf(thrown: unknown): string {
  const code = (thrown as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "";
}
