import { type BigIntStats, closeSync, fchmodSync, fchownSync, fstatSync, fsync, read, readSync, write, writeSync } from "node:fs";
import { promisify } from "node:util";
import type { EntryFacts, EntryType, NewFile, OpenFile } from "./directory.ts";
import { SystemError } from "./system-error.ts";

/** Puts content or names on disk. The disk takes its time: it is waited for in another thread. */
export const sync = promisify(fsync);

/** An open file or directory of this process. Once closed it has no number: that can be another file's by then. */
export class Descriptor {
  #number: number;

  constructor(opened: number) {
    this.#number = opened;
  }

  get number(): number {
    if (this.#number === -1) throw new SystemError("EBADF");
    return this.#number;
  }

  facts(): EntryFacts {
    return toFacts(fstatSync(this.number, { bigint: true }));
  }

  close(): void {
    const opened = this.#number;
    this.#number = -1;
    if (opened !== -1) closeSync(opened);
  }
}

export function typeOf(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): EntryType {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
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

/** Takes over the descriptor; closes it where it is not a regular file. */
export function toOpenFile(opened: number): OpenFile {
  const descriptor = new Descriptor(opened);
  try {
    const facts = descriptor.facts();
    assertRegular(facts);
    return {
      facts,
      read: (limit, from = 0) => readAtMost(descriptor, { expected: facts.bytes - from, limit, from }),
      close: async () => descriptor.close(),
    };
  } catch (error) {
    descriptor.close();
    throw error;
  }
}

/** Takes over the descriptor. */
export function toNewFile(opened: number): NewFile {
  const descriptor = new Descriptor(opened);
  return {
    write: (bytes) => writeAll(descriptor, bytes),
    setMode: async (mode) => fchmodSync(descriptor.number, mode),
    setOwner: async (user, group) => fchownSync(descriptor.number, user, group),
    sync: () => sync(descriptor.number),
    close: async () => descriptor.close(),
  };
}

interface Reading {
  readonly expected: number;
  readonly limit: number;
  readonly from: number;
}

/** The most bytes that are read, or written to a new file, while everything else in this process waits. */
const mostAtOnce = 65_536;

async function readAtMost(descriptor: Descriptor, { expected, limit, from }: Reading): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  // One byte more than expected, so that one read finds the end of the usual file.
  let size = Math.min(expected + 1, limit);
  while (total < limit) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 1), limit - total));
    const bytesRead = await readSome(descriptor, chunk, from + total);
    if (bytesRead > 0) chunks.push(new Uint8Array(chunk.buffer, 0, bytesRead));
    total += bytesRead;
    if (bytesRead === 0 || (total === expected && bytesRead < chunk.length)) break;
    size = mostAtOnce;
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : new Uint8Array(Buffer.concat(chunks));
}

async function readSome({ number }: Descriptor, chunk: Uint8Array, position: number): Promise<number> {
  if (chunk.length <= mostAtOnce) return readSync(number, chunk, 0, chunk.length, position);
  return (await promisify(read)(number, chunk, 0, chunk.length, position)).bytesRead;
}

async function writeAll({ number }: Descriptor, bytes: Uint8Array): Promise<void> {
  // The system can write a part: the loop goes on with the rest.
  for (let done = 0; done < bytes.length; ) {
    const rest = bytes.subarray(done);
    done += rest.length <= mostAtOnce ? writeSync(number, rest) : (await promisify(write)(number, rest)).bytesWritten;
  }
}
