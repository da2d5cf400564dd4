import { join } from "node:path";
import type { FileChange, ReplacementListener } from "../host/host.ts";
import type { CallPath } from "../protocol/call.ts";
import { isRecord } from "../protocol/json.ts";
import type { SecretKeeper } from "./secret-keeper.ts";
import type { RecordPlace, RecordReader } from "./stores/record-place.ts";

/** A write through a scope, as the record of its run has it. Contents are named by their digest under the run's key. */
export interface LoggedWrite {
  readonly callPath: CallPath;
  /** Virtual path, for people. */
  readonly path: string;
  /** Absolute host path of the scope's folder. */
  readonly root: string;
  /** The path below `root`. */
  readonly components: readonly string[];
  /** Null for a new file; undefined for one that was too large to be read. */
  readonly before: string | null | undefined;
  readonly after: string;
  /** How many bytes were kept of the content before. */
  readonly kept: number;
}

/** Keeps the contents that file tools replace, so that they can be restored. Best effort: a write does not fail because it cannot be logged. */
export interface WriteLog {
  /** `callPath`: of the call whose scopes it listens to. */
  listenerOf(callPath: CallPath): ReplacementListener;
}

/** The content before a write is kept up to this size, in bytes. */
export const mostOfFile = 10_000_000;

/** All contents that are kept of one run, in bytes. */
export const mostOfRun = 100_000_000;

/**
 * Logs the writes of a run. A content that the run wrote itself is not kept again, since undoing goes back from the last write to the first.
 */
export function createWriteLog(place: RecordPlace, { secrets, keep }: SecretKeeper): WriteLog {
  let known: Promise<KnownWrites> | undefined;
  const note = async (callPath: CallPath, { virtualPath, root, components, before, after }: FileChange): Promise<void> => {
    known ??= readWriteLog(place).then(toKnown);
    const state = await known;
    const path = join(root, ...components);
    const was = before && secrets.digest(before);
    const isOwn = was !== undefined && state.last.get(path) === was;
    const content = before && !isOwn && state.kept + before.length <= mostOfRun ? before : undefined;
    const name = before && !isOwn && !content ? undefined : was;
    const write = { path: virtualPath, root, components, before: name, after: secrets.digest(after), kept: content?.length ?? 0 };
    state.kept += write.kept;
    state.last.set(path, write.after);
    await keep([], content && name ? [{ name, content }] : []);
    const file = await place.openLog("writes.jsonl");
    try {
      // A line break before the line: one that a kill cut off spoils no other.
      file.append(`\n${JSON.stringify({ callPath, ...write })}`);
      await file.sync();
    } finally {
      await file.close();
    }
  };
  return {
    listenerOf: (callPath) => ({
      maxBytes: mostOfFile,
      note: (change) => note(callPath, change).catch(() => undefined),
    }),
  };
}

interface KnownWrites {
  kept: number;
  /** The digest of each file after its last write, by its host path. */
  readonly last: Map<string, string>;
}

function toKnown(writes: readonly LoggedWrite[]): KnownWrites {
  const last = new Map(writes.map(({ root, components, after }) => [join(root, ...components), after]));
  return { kept: writes.reduce((sum, { kept }) => sum + kept, 0), last };
}

/** The writes of a run, in their order. Empty if none is logged; damaged lines are ignored. */
export async function readWriteLog(place: RecordReader): Promise<readonly LoggedWrite[]> {
  return ((await place.readLog("writes.jsonl")) ?? "").split("\n").flatMap(readLine);
}

function readLine(line: string): readonly LoggedWrite[] {
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) && isWrite(entry) ? [{ before: undefined, ...entry } as LoggedWrite] : [];
  } catch {
    return [];
  }
}

function isWrite({ callPath, path, root, components, before, after, kept }: Readonly<Record<string, unknown>>): boolean {
  const texts = [callPath, path, root, after, before ?? ""];
  const names = Array.isArray(components) ? components : [undefined];
  return typeof kept === "number" && [...texts, ...names].every((text) => typeof text === "string");
}
