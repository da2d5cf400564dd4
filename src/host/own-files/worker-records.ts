import { join } from "node:path";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { sha256 } from "../../util/sha256.ts";
import type { Host } from "../host.ts";

/**
 * Capabilities of workers that were created in a run: a record for each, kept in the user's state folder, where no tool and no program can
 * write. It holds for one text of one file of one program.
 */
export interface WorkerRecords {
  /** Undefined for a file that llm-do did not write, or that has changed since. */
  read(place: RecordPlace): Promise<JsonObject | undefined>;
  /** Rejects with the system's error if it cannot be written. */
  keep(place: RecordPlace, record: JsonObject): Promise<void>;
}

export interface RecordPlace {
  /** Absolute path of the program's folder. */
  readonly folder: string;
  /** Relative to it, with `/`. */
  readonly file: string;
  /** SHA-256 of the file's text. */
  readonly digest: string;
}

export function createWorkerRecords(host: Pick<Host, "files" | "stateDirectory">): WorkerRecords {
  const directory = join(host.stateDirectory, "workers");
  const locate = async ({ folder, file, digest }: RecordPlace) => {
    const real = await host.files.realPath(folder).catch(() => folder);
    return join(directory, `${sha256(canonicalJson([real, file, digest])).slice(0, 32)}.json`);
  };
  return {
    read: async (place) => {
      const text = await host.files.readText(await locate(place)).catch(() => undefined);
      return text === undefined ? undefined : parse(text);
    },
    keep: async (place, record) => {
      await host.files.makeDirectory(directory, 0o700);
      await host.files.writeAtomically(await locate(place), `${JSON.stringify({ v: 1, ...place, record })}\n`, 0o600);
    },
  };
}

/**
 * Gives the created workers of a program whose folder was moved what they may do in its new one. `from`, `to`: real paths. Resolves with the
 * number of records.
 */
export async function moveWorkerRecords(host: Pick<Host, "files" | "stateDirectory">, from: string, to: string): Promise<number> {
  const records = createWorkerRecords(host);
  const directory = join(host.stateDirectory, "workers");
  let moved = 0;
  for (const name of await host.files.names(directory).catch((): readonly string[] => [])) {
    const text = await host.files.readText(join(directory, name)).catch(() => "");
    const { folder, file, digest, record } = (parseJson(text) ?? {}) as Partial<RecordPlace> & { readonly record?: JsonObject };
    if (folder !== from || file === undefined || digest === undefined || !record) continue;
    await records.keep({ folder: to, file, digest }, record);
    await host.files.remove(join(directory, name));
    moved++;
  }
  return moved;
}

function parse(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isRecord(value) && value["v"] === 1 && isRecord(value["record"]) ? (value["record"] as JsonObject) : undefined;
}
