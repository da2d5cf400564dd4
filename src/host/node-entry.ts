import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { EntryFacts, EntryType, NewFile, OpenFile } from "./directory.ts";
import { SystemError } from "./system-error.ts";

interface Typed {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

export function typeOf(entry: Typed): EntryType {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}

export function toFacts(stats: BigIntStats): EntryFacts {
  const identity = `${stats.dev}:${stats.ino}`;
  return {
    type: typeOf(stats),
    identity,
    version: `${identity}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`,
    bytes: Number(stats.size),
    // Without the set-user and set-group bits, which the kernel removes on a write, too.
    mode: Number(stats.mode & 0o777n),
    modifiedMilliseconds: Number(stats.mtimeMs),
    user: Number(stats.uid),
    group: Number(stats.gid),
  };
}

export function assertFile(facts: EntryFacts | undefined): EntryFacts {
  if (facts === undefined) throw new SystemError("ENOENT");
  if (facts.type === "link") throw new SystemError("ELOOP");
  assertRegular(facts);
  return facts;
}

function assertRegular({ type }: EntryFacts): void {
  if (type === "directory") throw new SystemError("EISDIR", "this is a folder");
  if (type !== "file") throw new SystemError("ENXIO", "this is no regular file");
}

/** Takes over the handle; closes it where it is not a regular file. */
export async function toOpenFile(handle: FileHandle): Promise<OpenFile> {
  try {
    const facts = toFacts(await handle.stat({ bigint: true }));
    assertRegular(facts);
    return {
      facts,
      read: (limit, from = 0) => readAtMost(handle, { expected: facts.bytes - from, limit, from }),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function toNewFile(handle: FileHandle): NewFile {
  return {
    write: async (bytes) => handle.writeFile(bytes),
    setMode: (mode) => handle.chmod(mode),
    setOwner: (user, group) => handle.chown(user, group),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

interface Reading {
  readonly expected: number;
  readonly limit: number;
  readonly from: number;
}

async function readAtMost(handle: FileHandle, { expected, limit, from }: Reading): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  // One byte more than expected, so that the usual file takes one read and one that finds its end.
  let size = Math.min(expected + 1, limit);
  while (total < limit) {
    const chunk = new Uint8Array(Math.min(Math.max(size, 1), limit - total));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, from + total);
    if (bytesRead === 0) break;
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
    size = 65_536;
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : new Uint8Array(Buffer.concat(chunks));
}
