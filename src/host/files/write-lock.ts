import { Tickets } from "../../util/async/tickets.ts";
import { sha256 } from "../../util/sha256.ts";
import { nodeClock } from "../node-clock.ts";
import { foldName } from "../scopes/protected-names.ts";
import { closing } from "../scopes/scope-walk.ts";
import type { Directory, EntryFacts } from "./directory.ts";
import { errorCode, SystemError } from "./system-error.ts";
import { createLockName, createTemporaryName, isLeftOver, isTemporaryName, lockKeyOf, type Writer } from "./temporary-name.ts";

/** A file that is about to be replaced. */
export interface WriteTarget {
  readonly directory: Directory;
  readonly name: string;
  readonly writer: Writer;
}

const patienceMilliseconds = 10_000;
const inThisProcess = new Tickets();

/**
 * Runs a function while no other writer of llm-do, in this process or another, replaces the same file. Node has no file
 * locks, so the lock is a link (or a file) beside the target, created exclusively, that names its owner. Rejects with `ELOCKED` if
 * another process holds the lock for ten seconds.
 *
 * If the owner has died, the next writer creates a second file, of the next level, and owns both. So the first is never removed
 * while another process uses it. The writer of the highest level removes all of them.
 */
export function lockForWriting<T>({ directory, name, writer }: WriteTarget, fn: () => Promise<T>): Promise<T> {
  const key = sha256(foldName(name)).slice(0, 16);
  return inThisProcess.alone(`${directory.identity}/${key}`, async () => {
    const files = await acquire({ directory, key, writer });
    try {
      return await fn();
    } finally {
      await release(directory, files);
    }
  });
}

/**
 * Removes the files of locks that killed processes left behind. A lock in use stays, also one of this process: the caller may own
 * it. A process that was killed while it released its lock leaves higher levels without lower ones. No process can acquire these
 * while this one has the lock, so dead ones are removed.
 */
export async function removeLeftLocks(directory: Directory, names: readonly string[], writer: Writer): Promise<void> {
  for (const [key, files] of Map.groupBy(names, (name) => lockKeyOf(name) ?? "")) {
    const lock = { directory, key, writer };
    const ticket = inThisProcess.take([{ key: `${directory.identity}/${key}`, mode: "change" }]);
    try {
      const held = ticket.waits ? undefined : await tryToAcquire(lock);
      if (held === undefined) continue;
      const left: string[] = [];
      for (const name of files.filter((file) => !held.includes(file))) {
        const facts = await directory.look(name);
        if (facts && (await isDead(lock, name, facts))) left.push(name);
      }
      await release(directory, [...left, ...held]);
    } finally {
      ticket.release();
    }
  }
}

/** The lock of one name in a directory. */
interface Lock {
  readonly directory: Directory;
  readonly key: string;
  readonly writer: Writer;
}

/** Returns the lock's files from the lowest level on; the last one is our own. */
async function acquire(lock: Lock): Promise<readonly string[]> {
  for (let waited = 0, pause = 1; waited < patienceMilliseconds; waited += pause) {
    const files = await tryToAcquire(lock);
    if (files !== undefined) return files;
    pause = Math.min(pause * 2, 16);
    await nodeClock.sleep(pause);
  }
  throw new SystemError("ELOCKED");
}

async function tryToAcquire(lock: Lock): Promise<readonly string[] | undefined> {
  const { directory, key, writer } = lock;
  const dead = new Map<string, EntryFacts>();
  for (;;) {
    const name = createLockName(key, dead.size);
    if (await create(directory, name, createTemporaryName(writer))) {
      const files = [...dead.keys(), name];
      if (await areStillThere(directory, dead)) return files;
      await release(directory, [name]);
      return undefined;
    }
    const facts = await directory.look(name);
    if (facts === undefined || !(await isDead(lock, name, facts))) return undefined;
    dead.set(name, facts);
  }
}

/** Creates a link where the system has links: its text exists as soon as it does. */
async function create(directory: Directory, name: string, owner: string): Promise<boolean> {
  try {
    await directory.createLink(name, owner);
    return true;
  } catch (error) {
    return errorCode(error) === "EEXIST" ? false : createAsFile(directory, name, owner);
  }
}

async function createAsFile(directory: Directory, name: string, owner: string): Promise<boolean> {
  const file = await directory.createFile(name, 0o600).catch((error: unknown) => {
    // Windows denies access to a name that is being removed.
    if (["EEXIST", "EPERM", "EACCES", "EBUSY"].includes(errorCode(error))) return undefined;
    throw error;
  });
  try {
    await file?.write(new TextEncoder().encode(owner));
  } catch (error) {
    await release(directory, [name]);
    throw error;
  } finally {
    await file?.close();
  }
  return file !== undefined;
}

/** A lower level that was removed meanwhile can belong to another process now. */
async function areStillThere(directory: Directory, dead: ReadonlyMap<string, EntryFacts>): Promise<boolean> {
  for (const [name, facts] of dead) if ((await directory.look(name))?.version !== facts.version) return false;
  return true;
}

/** Returns whether the owner of a lock's file has died, or it names none and is older than it takes to write one into it. */
async function isDead({ directory, writer }: Lock, name: string, facts: EntryFacts): Promise<boolean> {
  const owner = facts.type === "link" ? await directory.readLink(name).catch(() => "") : await readOwner(directory, name);
  if (isTemporaryName(owner)) return isLeftOver(owner, facts.modifiedMilliseconds, writer);
  return Math.abs(writer.now() - facts.modifiedMilliseconds) > patienceMilliseconds;
}

async function readOwner(directory: Directory, name: string): Promise<string> {
  try {
    return new TextDecoder().decode(await closing(await directory.openFile(name), (file) => file.read(200)));
  } catch {
    return "";
  }
}

/** Removes our own file last: if it is gone, the lower levels are gone, too. Never fails. */
async function release(directory: Directory, files: readonly string[]): Promise<void> {
  for (const name of files) await directory.removeFile(name).catch(() => undefined);
}
