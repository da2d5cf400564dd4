import { lstat, mkdir, readdir, readFile, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { openAppendFile } from "./append-file.ts";
import type { HostFiles } from "./host.ts";
import { toFacts } from "./node-entry.ts";
import type { ScopeSystem } from "./open-scopes.ts";
import { removeLeftOvers, replaceFile } from "./replace-file.ts";
import { errorCode } from "./system-error.ts";

export function createNodeFiles(system: ScopeSystem): HostFiles {
  return {
    readText: (path) => readFile(path, "utf8"),
    readBytes: async (path) => new Uint8Array(await readFile(path)),
    kind,
    names,
    realPath: (path) => realpath(path),
    makeDirectory: async (path, mode) => {
      const first = await mkdir(path, { recursive: true, ...(mode === undefined ? {} : { mode }) });
      if (first !== undefined) await system.writer.writes?.note(async () => toFacts(await lstat(first, { bigint: true })));
    },
    writeAtomically: (path, bytes, mode) => writeAtomically(system, { path, bytes, mode }),
    openAppend: async (path, mode) => openAppendFile(path, mode ?? 0o666),
    remove: (path) => rm(path, { force: true, recursive: true }),
  };
}

async function kind(path: string): Promise<"file" | "directory" | "other" | undefined> {
  try {
    const stats = await stat(path);
    if (stats.isFile()) return "file";
    return stats.isDirectory() ? "directory" : "other";
  } catch {
    return undefined;
  }
}

async function names(path: string): Promise<readonly string[]> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return [];
    throw error;
  }
}

interface AtomicWriting {
  readonly path: string;
  readonly bytes: Uint8Array | string;
  readonly mode: number | undefined;
}

/** Shared by both twins: only the system differs. */
export async function writeAtomically(system: ScopeSystem, { path, bytes, mode }: AtomicWriting): Promise<void> {
  const target = await system.realPath(path).catch(() => path);
  const directory = await system.openRoot(dirname(target));
  try {
    const present = await directory.look(basename(target));
    const like = present === undefined || mode === undefined ? present : { ...present, mode };
    await removeLeftOvers(directory, system.writer);
    const content = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    await replaceFile(directory, basename(target), { bytes: content, writer: system.writer, like, mode });
  } finally {
    await directory.close();
  }
}
