import { join } from "node:path";
import type { AppendFile, Host } from "../host/host.ts";
import type { OwnFolder } from "../host/own-files/own-folder.ts";
import { isRecord } from "../protocol/json.ts";
import { parseJson } from "../util/json/parse-json.ts";
import { sha256 } from "../util/sha256.ts";

/** The runs of the rows of one map, so that the map can be started again. What became of a row is in the record of its run. */
export interface MapLog {
  /** Returns the run of a row in an earlier start, and forgets it. `usd`: its cost, where it ended. */
  take(row: string): LoggedRun | undefined;
  /** All runs of earlier starts. */
  runs(): Iterable<LoggedRun>;
  /** Resolves when it is on disk: a run has no effect before its row names it. */
  begin(row: string, run: string): Promise<void>;
  end(row: string, run: LoggedRun): void;
  close(): Promise<void>;
}

export interface LoggedRun {
  readonly run: string;
  readonly usd?: number;
}

/** For a map that is not started again. */
export const noLog: MapLog = {
  take: () => undefined,
  runs: () => [],
  begin: async () => undefined,
  end: () => undefined,
  close: async () => undefined,
};

export interface MapName {
  /** The path of the store that has the runs. */
  readonly store: string;
  /** The folder of the program. */
  readonly program: string;
  readonly name: string;
}

const file = "rows.jsonl";

/**
 * Runs a function with the log of a map, in the user's state folder, while no other process has it. Rejects if another one has it for
 * ten seconds.
 */
export async function withMapLog<T>(host: Host, name: MapName, use: (log: MapLog) => Promise<T>): Promise<T> {
  const folder = await openFolder(host, name);
  try {
    return await folder.alone(file, async () => {
      const log = new FolderLog(await readRuns(folder), await folder.openAppend(file));
      return use(log).finally(() => log.close());
    });
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ELOCKED")
      throw new Error(`another process maps the same rows of ${name.name}: wait for it, or end it`);
    throw thrown;
  } finally {
    await folder.close();
  }
}

/** Returns whether there is a log of a map. */
export async function hasMapLog(host: Host, name: MapName): Promise<boolean> {
  return (await host.files.kind(join(host.stateDirectory, "maps", keyOf(name), file))) === "file";
}

/** Forgets the rows of earlier starts. The records of their runs stay. */
export async function forgetMap(host: Host, name: MapName): Promise<void> {
  const folder = await openFolder(host, name);
  await folder.remove(file).finally(() => folder.close());
}

function keyOf({ store, program, name }: MapName): string {
  return sha256(JSON.stringify([store, program, name])).slice(0, 32);
}

async function openFolder(host: Host, name: MapName): Promise<OwnFolder> {
  const state = await host.files.openOwn(host.stateDirectory, { make: true });
  try {
    const maps = await state.open("maps", { make: true });
    return await maps.open(keyOf(name), { make: true }).finally(() => maps.close());
  } finally {
    await state.close();
  }
}

/** Ignores lines that a kill cut off. */
async function readRuns(folder: OwnFolder): Promise<Map<string, LoggedRun>> {
  const text = (await folder.has(file)) ? Buffer.from(await folder.read(file)).toString("utf8") : "";
  const runs = new Map<string, LoggedRun>();
  for (const line of text.split("\n")) {
    const entry = line === "" ? undefined : parseJson(line);
    if (!isRecord(entry) || typeof entry["row"] !== "string" || typeof entry["run"] !== "string") continue;
    runs.set(entry["row"], { run: entry["run"], ...(typeof entry["usd"] === "number" ? { usd: entry["usd"] } : {}) });
  }
  return runs;
}

class FolderLog implements MapLog {
  readonly #earlier: Map<string, LoggedRun>;
  readonly #file: AppendFile;

  constructor(earlier: Map<string, LoggedRun>, opened: AppendFile) {
    this.#earlier = earlier;
    this.#file = opened;
  }

  take(row: string): LoggedRun | undefined {
    const run = this.#earlier.get(row);
    this.#earlier.delete(row);
    return run;
  }

  runs(): Iterable<LoggedRun> {
    return this.#earlier.values();
  }

  async begin(row: string, run: string): Promise<void> {
    this.end(row, { run });
    await this.#file.sync();
  }

  end(row: string, run: LoggedRun): void {
    // A line break before the line: one that a kill cut off spoils no other.
    this.#file.append(`\n${JSON.stringify({ row, ...run })}`);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
