import { constants, lstatSync, mkdirSync, openSync, statSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, relative, sep } from "node:path";
import { formatCount } from "../../util/text/format-count.ts";
import { isWithin } from "../../util/within.ts";
import type { HostFiles, ReadOptions } from "../host.ts";
import { openOwnFolder } from "../own-files/own-folder.ts";
import { isPrivatePath } from "../own-files/private-folders.ts";
import { realPrivateFolders, type ScopeSystem } from "../scopes/open-scopes.ts";
import { protectionOfName } from "../scopes/protected-names.ts";
import { maxReadBytes } from "../scopes/scopes.ts";
import type { OpenFile } from "./directory.ts";
import { makeBelow, makeFolders } from "./make-folders.ts";
import { assertFile, toFacts, toOpenFile } from "./node-entry.ts";
import { removeLeftOvers, replaceFile } from "./replace-file.ts";
import { errorCode, SystemError } from "./system-error.ts";
import { lockForWriting } from "./write-lock.ts";

export function createNodeFiles(system: ScopeSystem): HostFiles {
  return {
    readText: async (path, options) =>
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readBytes({ system, path, ...options })),
    readBytes: (path, options) => readBytes({ system, path, ...options }),
    readEnds: (path, { bytes, within }) =>
      withOpenFile({ system, path, within }, async ({ facts, read }) => {
        if (bytes > maxReadBytes) assertSize(facts.bytes, maxReadBytes);
        const start = await read(bytes);
        return { start, end: await read(bytes, Math.max(facts.bytes - bytes, 0)), bytes: facts.bytes };
      }),
    kind,
    isMissing: (path) => system.isMissing?.(path) ?? false,
    names,
    realPath: system.realPath,
    makeDirectory: (path, mode) => makeDirectory(system, path, mode),
    makeOwnDirectory: (root, names, mode) => makeOwnDirectory(system, { root, names, mode }),
    writeAtomically: (path, bytes, mode) => writeAtomically(system, { path, bytes, mode }),
    alone: (path, fn) => alone(system, path, fn),
    openOwn: (path, options) => openOwnFolder(system, path, options),
    // Often there is nothing, and to find that out costs more with `rm`.
    remove: async (path) => {
      if (lstatSync(path, { throwIfNoEntry: false })) await rm(path, { force: true, recursive: true });
    },
  };
}

// Windows knows but the first. A pipe without a writer opens at once, and is refused then.
const readFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

interface Opening {
  readonly system: ScopeSystem;
  readonly path: string;
  readonly within?: string | undefined;
}

function readBytes({ maxBytes = maxReadBytes, ...opening }: Opening & ReadOptions): Promise<Uint8Array> {
  return withOpenFile(opening, async ({ facts, read }) => {
    assertSize(facts.bytes, maxBytes);
    const bytes = await read(maxBytes + 1);
    assertSize(bytes.length, maxBytes);
    return bytes;
  });
}

async function withOpenFile<T>({ system, path, within }: Opening, use: (file: OpenFile) => Promise<T>): Promise<T> {
  const real = within === undefined ? path : await confinedPath(system, path, within);
  // Checked before it is opened as well: opening a device can have effects.
  const stats = statSync(real, { bigint: true, throwIfNoEntry: false });
  if (!stats) throw new SystemError("ENOENT", `no such file or directory, stat '${real}'`);
  assertFile(toFacts(stats));
  const noFollow = within === undefined ? 0 : (constants.O_NOFOLLOW ?? 0);
  const file = toOpenFile(openSync(real, readFlags | noFollow));
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/**
 * Used by the memory host, too. Returns the path of a file without links; rejects with `EXDEV` if it leads out of the folder, and with `EACCES`
 * if its name in the folder asks before it is read.
 */
export async function confinedPath(system: ScopeSystem, path: string, folder: string): Promise<string> {
  const [real, realFolder] = await Promise.all([system.realPath(path), system.realPath(folder)]);
  if (!isWithin(real, realFolder)) throw new SystemError("EXDEV", "this is a link that leads out of its folder");
  if (protectionOfName(relative(realFolder, real).split(sep)) === "ask-read-and-write")
    throw new SystemError("EACCES", "this is a protected name");
  const hidden = await realPrivateFolders(system);
  if (isPrivatePath(real, hidden) && !isPrivatePath(realFolder, hidden))
    throw new SystemError("EACCES", "it holds keys and secrets of llm-do");
  return real;
}

/** Used by the memory host, too. */
export function assertSize(bytes: number, most: number): void {
  if (bytes > most) throw new SystemError("EFBIG", `this is larger than ${formatCount(most)} bytes`);
}

async function kind(path: string): Promise<"file" | "directory" | "other" | undefined> {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile()) return "file";
    return stats && (stats.isDirectory() ? "directory" : "other");
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

/**
 * Tries at once: most folders lack nothing on the way, and to go there takes ten times as long. In the program's thread: by the time that a
 * thread of the pool has begun, it is done.
 */
async function makeDirectory(system: ScopeSystem, path: string, mode?: number): Promise<void> {
  try {
    mkdirSync(path, mode);
  } catch {
    return makeFolders(system, path, mode);
  }
  await system.writer.writes?.note(async () => toFacts(statSync(path, { bigint: true })));
}

interface OwnDirectory {
  readonly root: string;
  readonly names: readonly string[];
  readonly mode: number | undefined;
}

/** Used by the memory host, too. */
export async function makeOwnDirectory(system: ScopeSystem, { root, names, mode }: OwnDirectory): Promise<void> {
  await makeBelow(await system.openRoot(root), names, { writer: system.writer, mode });
}

interface AtomicWriting {
  readonly path: string;
  readonly bytes: Uint8Array | string;
  readonly mode: number | undefined;
}

/** Used by the memory host, too. */
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

/** Used by the memory host, too. */
export async function alone<T>(system: ScopeSystem, path: string, fn: () => Promise<T>): Promise<T> {
  const directory = await system.openRoot(dirname(path));
  try {
    return await lockForWriting({ directory, name: basename(path), writer: system.writer }, fn);
  } finally {
    await directory.close();
  }
}
