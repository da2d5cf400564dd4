import type { Directory, EntryFacts } from "./directory.ts";
import { makesRepository } from "./protected-names.ts";
import { removeLeftOvers, replaceFile } from "./replace-file.ts";
import * as refuse from "./scope-refusals.ts";
import type { ScopeTable } from "./scope-table.ts";
import type { ParentPlace } from "./scope-walk.ts";
import * as walk from "./scope-walk.ts";
import {
  type AppendedFile,
  type FileFacts,
  type InspectedPath,
  maxReadBytes,
  type Protection,
  type ReadFile,
  type ResolvedPath,
  ScopeError,
} from "./scopes.ts";
import { errorCode, SystemError } from "./system-error.ts";
import { lockForWriting } from "./write-lock.ts";

export async function findFacts(table: ScopeTable, path: ResolvedPath): Promise<FileFacts> {
  if (path.components.length === 0) return folderFacts(table, path);
  return inParent(table, path, async (parent) => {
    const facts = await walk.lookAt(table, parent);
    if (facts === undefined) throw await walk.missing(table, parent);
    const virtualPath = walk.virtualPathOf(table, parent);
    if (facts.type === "directory") return folderFacts(table, path);
    if (facts.type !== "file") throw refuse.notAFile(virtualPath, "not a regular file");
    return walk.toFileFacts({ scope: parent.scope, virtualPath }, facts);
  });
}

/** A folder can be the root of a deeper scope: it is entered to see whose it is. */
async function folderFacts(table: ScopeTable, path: ResolvedPath): Promise<FileFacts> {
  const place = await walk.openPlace(table, path);
  try {
    const virtualPath = table.format(place.scope, place.components);
    const none = { bytes: 0, mode: 0o777, modifiedMilliseconds: 0, user: 0, group: 0, version: "" };
    return walk.toFileFacts(
      { scope: place.scope, virtualPath },
      { ...none, type: "directory", identity: place.directory.identity },
    );
  } finally {
    await place.close();
  }
}

export async function findNames(table: ScopeTable, path: ResolvedPath, most: number): Promise<readonly string[] | undefined> {
  const place = await walk.openPlace(table, path);
  try {
    const entries = await place.directory.entries();
    return entries.length > most ? undefined : entries.map(({ name }) => name);
  } catch (error) {
    throw refuse.systemRefused(table.format(place.scope, place.components), error);
  } finally {
    await place.close();
  }
}

export async function inspectPath(table: ScopeTable, path: ResolvedPath, access: "read" | "write"): Promise<InspectedPath> {
  assertNotRoot(table, path);
  return inParent(table, path, async (parent) => {
    const { scope } = parent;
    const virtualPath = walk.virtualPathOf(table, parent);
    const facts = access === "read" ? await lookToRead(table, parent) : await lookToWrite(table, parent);
    return {
      virtualPath,
      scope,
      facts: facts === undefined ? undefined : walk.toFileFacts({ scope, virtualPath }, facts),
      protection: table.protection(scope, walk.componentsOf(parent)) ?? protectionOfTool(access, parent),
    };
  });
}

function protectionOfTool(access: "read" | "write", { name }: ParentPlace): Protection | undefined {
  return access === "write" && makesRepository(name) ? "ask-write" : undefined;
}

export async function readFile(table: ScopeTable, path: ResolvedPath, maxBytes: number | undefined): Promise<ReadFile> {
  assertNotRoot(table, path);
  return inParent(table, path, async (parent) => {
    await lookToRead(table, parent);
    const { scope } = parent;
    const virtualPath = walk.virtualPathOf(table, parent);
    const file = await parent.directory.openFile(parent.name);
    try {
      const limit = scope.maxFileBytes ?? maxReadBytes;
      if (file.facts.bytes > limit && (scope.maxFileBytes !== undefined || maxBytes === undefined)) {
        throw refuse.fileTooLarge(virtualPath, limit);
      }
      const bytes = await file.read(Math.min(maxBytes ?? limit + 1, limit + 1));
      if (bytes.length > limit) throw refuse.fileTooLarge(virtualPath, limit);
      return { facts: walk.toFileFacts({ scope, virtualPath }, file.facts), bytes };
    } finally {
      await file.close();
    }
  });
}

/** That much from the beginning of a regular file, whatever suffixes and sizes its scope allows. */
export async function readAnyFile(table: ScopeTable, path: ResolvedPath, maxBytes: number): Promise<ReadFile> {
  assertNotRoot(table, path);
  return inParent(table, path, async (parent) => {
    const { scope } = parent;
    const virtualPath = walk.virtualPathOf(table, parent);
    const facts = await walk.lookAt(table, parent);
    assertFile(virtualPath, facts);
    if (facts === undefined) throw await walk.missing(table, parent);
    const file = await parent.directory.openFile(parent.name);
    try {
      return { facts: walk.toFileFacts({ scope, virtualPath }, file.facts), bytes: await file.read(maxBytes) };
    } finally {
      await file.close();
    }
  });
}

export interface Writing {
  readonly bytes: Uint8Array;
  readonly expect: string | undefined;
}

export async function writeFile(table: ScopeTable, path: ResolvedPath, writing: Writing): Promise<FileFacts> {
  const { bytes, expect } = writing;
  return inPlaceToWrite(table, path, {
    check: (parent) => assertMayWrite(table, parent, writing),
    write: async (parent, like) => {
      const { directory, name } = parent;
      const { writer } = table;
      const commit = (rename: () => Promise<void>) =>
        lockForWriting({ directory, name, writer }, async () => {
          await assertExpected(table, parent, expect);
          await rename();
        });
      await replaceFile(directory, name, { bytes, writer, like, commit });
      return writtenFacts(table, parent);
    },
  });
}

/** How often a file may be changed by a program that takes no lock, between the look and the new name. */
const appendAttempts = 10;

/** Under the lock from the look on, so that of several writers each finds what the others appended. */
export async function appendFile(table: ScopeTable, path: ResolvedPath, bytes: Uint8Array): Promise<AppendedFile> {
  return inPlaceToWrite(table, path, {
    check: (parent) => lookToAppend(table, parent, bytes),
    write: async (parent) => {
      const { directory, name } = parent;
      return lockForWriting({ directory, name, writer: table.writer }, async () => {
        for (let attempt = 1; ; attempt++) {
          try {
            return await appendOnce(table, parent, bytes);
          } catch (error) {
            if (!(error instanceof ScopeError) || error.type !== "changed" || attempt === appendAttempts) throw error;
          }
        }
      });
    },
  });
}

async function appendOnce(table: ScopeTable, parent: ParentPlace, bytes: Uint8Array): Promise<AppendedFile> {
  const { directory, name } = parent;
  const like = await lookToAppend(table, parent, bytes);
  const present = like === undefined ? new Uint8Array() : await readPresent(directory, name);
  const commit = async (rename: () => Promise<void>) => {
    await assertExpected(table, parent, like?.version);
    await rename();
  };
  await replaceFile(directory, name, { bytes: Buffer.concat([present, bytes]), writer: table.writer, like, commit });
  return { facts: await writtenFacts(table, parent), created: like === undefined };
}

async function readPresent(directory: Directory, name: string): Promise<Uint8Array> {
  const file = await directory.openFile(name);
  try {
    return await file.read(maxReadBytes);
  } finally {
    await file.close();
  }
}

interface WriteSteps<T> {
  readonly check: (parent: ParentPlace) => Promise<EntryFacts | undefined>;
  readonly write: (parent: ParentPlace, like: EntryFacts | undefined) => Promise<T>;
}

/** Makes the folders that are missing. */
async function inPlaceToWrite<T>(table: ScopeTable, path: ResolvedPath, { check, write }: WriteSteps<T>): Promise<T> {
  assertNotRoot(table, path);
  return inParent(table, path, async (found) => {
    await check(found);
    const parent = await makeFolders(table, found);
    try {
      // Again: the folder that was made or found can lie in a deeper scope.
      const like = await check(parent);
      if (table.isFirstWriteIn(parent.directory.identity)) await removeLeftOvers(parent.directory, table.writer);
      return await write(parent, like);
    } finally {
      if (parent.directory !== found.directory) await parent.close();
    }
  });
}

async function writtenFacts(table: ScopeTable, parent: ParentPlace): Promise<FileFacts> {
  const facts = await walk.lookAt(table, parent);
  const virtualPath = walk.virtualPathOf(table, parent);
  if (facts === undefined) throw refuse.changedMeanwhile(virtualPath);
  return walk.toFileFacts({ scope: parent.scope, virtualPath }, facts);
}

async function assertMayWrite(table: ScopeTable, parent: ParentPlace, writing: Writing): Promise<EntryFacts | undefined> {
  const facts = await lookToWrite(table, parent);
  assertAllowed(table, parent, writing.bytes.length);
  if (facts?.version !== writing.expect) throw refuse.changedMeanwhile(walk.virtualPathOf(table, parent));
  return facts;
}

async function lookToAppend(table: ScopeTable, parent: ParentPlace, bytes: Uint8Array): Promise<EntryFacts | undefined> {
  const facts = await lookToWrite(table, parent);
  const present = facts?.bytes ?? 0;
  if (present > maxReadBytes) throw refuse.fileTooLarge(walk.virtualPathOf(table, parent), maxReadBytes);
  assertAllowed(table, parent, present + bytes.length);
  return facts;
}

function assertAllowed(table: ScopeTable, parent: ParentPlace, bytes: number): void {
  const virtualPath = walk.virtualPathOf(table, parent);
  if (table.protection(parent.scope, walk.componentsOf(parent)) === "program") throw refuse.pathProtected(virtualPath);
  const limit = parent.scope.maxFileBytes;
  if (limit !== undefined && bytes > limit) throw refuse.fileTooLarge(virtualPath, limit);
}

async function assertExpected(table: ScopeTable, parent: ParentPlace, expect: string | undefined): Promise<void> {
  const facts = await walk.lookAt(table, parent);
  if (facts?.version !== expect) throw refuse.changedMeanwhile(walk.virtualPathOf(table, parent));
  await walk.assertInPlace(table, parent.scope);
}

async function makeFolders(table: ScopeTable, found: ParentPlace): Promise<ParentPlace> {
  let place: walk.Place = found;
  for (const folder of found.missing) {
    const above = place;
    try {
      await makeFolder(table, above.directory, folder);
      place = await walk.enter(table, above, folder);
    } finally {
      if (above !== found) await above.close();
    }
  }
  return { ...place, name: found.name, missing: [] };
}

async function makeFolder(table: ScopeTable, directory: Directory, name: string): Promise<void> {
  try {
    await directory.makeDirectory(name);
    await table.writer.writes?.note(() => directory.look(name));
    await directory.sync();
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

/** The facts of a file that may be read as far as rights, suffix and kind go. */
async function lookToRead(table: ScopeTable, parent: ParentPlace): Promise<EntryFacts> {
  const virtualPath = walk.virtualPathOf(table, parent);
  const facts = await walk.lookAt(table, parent);
  assertFile(virtualPath, facts);
  assertSuffix(virtualPath, parent);
  if (facts === undefined) throw await walk.missing(table, parent);
  return facts;
}

async function lookToWrite(table: ScopeTable, parent: ParentPlace): Promise<EntryFacts | undefined> {
  const virtualPath = walk.virtualPathOf(table, parent);
  if (parent.scope.mode !== "rw") throw refuse.pathNotWritable(virtualPath, parent.scope, table.allowed);
  const facts = await walk.lookAt(table, parent);
  assertFile(virtualPath, facts);
  if (facts === undefined) assertNoLostRoot(table, parent);
  assertSuffix(virtualPath, parent);
  // Replacing by rename would not ask for it: a file that nobody may write is left alone all the same.
  if (facts !== undefined && (facts.mode & 0o222) === 0) throw refuse.systemRefused(virtualPath, new SystemError("EACCES"));
  return facts;
}

function assertFile(virtualPath: string, facts: EntryFacts | undefined): void {
  if (facts?.type === "directory") throw refuse.notAFile(virtualPath, "a folder");
  if (facts !== undefined && facts.type !== "file") throw refuse.notAFile(virtualPath, "not a regular file");
}

function assertSuffix(virtualPath: string, parent: ParentPlace): void {
  if (!walk.hasSuffix(parent.scope, parent.name)) throw refuse.suffixNotAllowed(virtualPath, parent.scope.suffixes ?? []);
}

function assertNotRoot(table: ScopeTable, path: ResolvedPath): void {
  if (path.components.length === 0) throw refuse.notAFile(table.format(path.scope, []), "a folder");
}

/** The root of a deeper scope that has vanished is not made again with the rights of the scope around it. */
function assertNoLostRoot(table: ScopeTable, parent: ParentPlace): void {
  const names = [...parent.missing, parent.name];
  for (const [index] of names.entries()) {
    const lost = table.rootAt(parent.scope, [...parent.components, ...names.slice(0, index + 1)]);
    if (lost !== undefined) throw refuse.replacedRoot(table.format(lost.declaration, []));
  }
}

async function inParent<T>(table: ScopeTable, path: ResolvedPath, use: (parent: ParentPlace) => Promise<T>): Promise<T> {
  const parent = await walk.openParent(table, path);
  try {
    return await use(parent);
  } catch (error) {
    if (error instanceof ScopeError) throw error;
    const virtualPath = walk.virtualPathOf(table, parent);
    if (errorCode(error) === "ELOOP") throw refuse.linkRefused(virtualPath, table.allowed);
    if (errorCode(error) === "ENXIO") throw refuse.notAFile(virtualPath, "not a regular file");
    if (errorCode(error) === "EISDIR") throw refuse.notAFile(virtualPath, "a folder");
    if (errorCode(error) === "ENOENT") throw await walk.missing(table, parent);
    throw refuse.systemRefused(virtualPath, error);
  } finally {
    await parent.close();
  }
}
