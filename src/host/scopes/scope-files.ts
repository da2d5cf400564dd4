import { sha256 } from "../../util/sha256.ts";
import type { EntryFacts } from "../files/directory.ts";
import { makeFolder } from "../files/make-folders.ts";
import { removeLeftOvers, replaceFile } from "../files/replace-file.ts";
import { errorCode, SystemError } from "../files/system-error.ts";
import { lockForWriting } from "../files/write-lock.ts";
import type { ReplacementListener } from "../host.ts";
import { makesRepository } from "./protected-names.ts";
import * as refuse from "./scope-refusals.ts";
import type { ScopeTable } from "./scope-table.ts";
import {
  assertInPlace,
  closing,
  hasSuffix,
  inFolder,
  lookAt,
  notFoundIn,
  type OpenFolder,
  openParent,
  openSubfolder,
  type ParentFolder,
  toFileFacts,
  toParent,
} from "./scope-walk.ts";
import {
  type AppendedFile,
  type FileFacts,
  type InspectedPath,
  maxReadBytes,
  type ReadFile,
  type ResolvedPath,
  ScopeError,
} from "./scopes.ts";

export async function findFacts(table: ScopeTable, path: ResolvedPath): Promise<FileFacts> {
  if (path.components.length === 0) return folderFacts(table, path);
  return inParent(table, path, async (parent) => {
    const facts = await lookAt(table, parent);
    if (facts === undefined) throw await notFoundIn(table, parent);
    if (facts.type === "directory") return folderFacts(table, path);
    assertFile(parent, facts);
    return toFileFacts(parent, facts);
  });
}

/** A folder can be the root of a deeper scope: it is opened to find that scope. */
function folderFacts(table: ScopeTable, path: ResolvedPath): Promise<FileFacts> {
  return inFolder(table, path, async ({ directory, scope, components }) => {
    const none = { bytes: 0, mode: 0o777, modifiedMilliseconds: 0, user: 0, group: 0, version: "" };
    const virtualPath = table.format(scope, components);
    return toFileFacts({ scope, virtualPath }, { ...none, type: "directory", identity: directory.identity });
  });
}

export function findNames(table: ScopeTable, path: ResolvedPath, most: number): Promise<readonly string[] | undefined> {
  return inFolder(table, path, async ({ directory, scope, components }) => {
    const entries = await directory.entries().catch((error: unknown) => {
      throw refuse.systemRefused(table.format(scope, components), error);
    });
    return entries.length > most ? undefined : entries.map(({ name }) => name);
  });
}

export async function inspectPath(table: ScopeTable, path: ResolvedPath, access: "read" | "write"): Promise<InspectedPath> {
  assertNotRoot(table, path);
  return inParent(table, path, async (parent) => {
    const { scope, virtualPath } = parent;
    const facts = access === "read" ? await lookToRead(table, parent) : await lookToWrite(table, parent);
    const ofTool = access === "write" && makesRepository(parent.name) ? "ask-write" : undefined;
    const protection = table.protection(scope, parent.path) ?? ofTool;
    return { virtualPath, scope, facts: facts && toFileFacts(parent, facts), protection };
  });
}

export async function readFile(table: ScopeTable, path: ResolvedPath, maxBytes: number | undefined): Promise<ReadFile> {
  assertNotRoot(table, path);
  return inParent(table, path, async (parent) => {
    await lookToRead(table, parent);
    const { scope, virtualPath } = parent;
    const limit = scope.maxFileBytes ?? maxReadBytes;
    return closing(await parent.directory.openFile(parent.name), async (file) => {
      const isBounded = scope.maxFileBytes === undefined && maxBytes !== undefined;
      if (file.facts.bytes > limit && !isBounded) throw refuse.fileTooLarge(virtualPath, limit);
      const whole = await file.read(scope.pinned ? limit + 1 : Math.min(maxBytes ?? limit + 1, limit + 1));
      if (whole.length > limit) throw refuse.fileTooLarge(virtualPath, limit);
      if (!isAsPinned(table, parent, whole)) throw refuse.changedSincePinned(virtualPath);
      return { facts: toFileFacts(parent, file.facts), bytes: whole.subarray(0, maxBytes) };
    });
  });
}

/** Returns whether the whole of a file is as its scope pins it. */
export function isAsPinned(table: ScopeTable, { scope, path }: Pick<ParentFolder, "scope" | "path">, whole: Uint8Array): boolean {
  const { pinned } = scope;
  if (!pinned || table.protection(scope, path) === "ask-read-and-write") return true;
  const name = path.join("/");
  return Object.hasOwn(pinned, name) && pinned[name] === sha256(whole);
}

export interface Writing {
  readonly bytes: Uint8Array;
  readonly expect: string | undefined;
}

export async function writeFile(table: ScopeTable, path: ResolvedPath, { bytes, expect }: Writing): Promise<FileFacts> {
  const check = async (parent: ParentFolder) => {
    const facts = await lookToWrite(table, parent);
    assertAllowed(table, parent, bytes.length);
    if (facts?.version !== expect) throw refuse.changedMeanwhile(parent.virtualPath);
    return facts;
  };
  return writeInParent(table, path, {
    check,
    write: async (parent, like) => {
      const { directory, name } = parent;
      const { writer } = table;
      const commit = (rename: () => Promise<void>) =>
        lockForWriting({ directory, name, writer }, async () => {
          await assertExpected(table, parent, expect);
          await noteReplacement(table, parent, { after: bytes, read: (most) => readWhole(parent, like, most) });
          await rename();
        });
      await replaceFile(directory, name, { bytes, writer, like, commit });
      return writtenFacts(table, parent);
    },
  });
}

/** How often another program, which takes no lock, may change the file between the look and the rename. */
const appendAttempts = 10;

/** Locks before the look, so that each of several writers finds what the others appended. */
export async function appendFile(table: ScopeTable, path: ResolvedPath, bytes: Uint8Array): Promise<AppendedFile> {
  return writeInParent(table, path, {
    check: (parent) => lookToAppend(table, parent, bytes),
    write: async (parent) => {
      const { directory, name } = parent;
      return lockForWriting({ directory, name, writer: table.writer }, async () => {
        const created = await appendAgain(table, parent, bytes);
        // A file that is gone by now was written all the same: it is not written anew.
        return { facts: await writtenFacts(table, parent), created };
      });
    },
  });
}

async function appendAgain(table: ScopeTable, parent: ParentFolder, bytes: Uint8Array): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await appendOnce(table, parent, bytes);
    } catch (error) {
      if (!(error instanceof ScopeError) || error.type !== "changed" || attempt === appendAttempts) throw error;
    }
  }
}

/** Returns whether it made the file. */
async function appendOnce(table: ScopeTable, parent: ParentFolder, bytes: Uint8Array): Promise<boolean> {
  const { directory, name } = parent;
  const like = await lookToAppend(table, parent, bytes);
  const present = like && (await closing(await directory.openFile(name), (file) => file.read(maxReadBytes)));
  const whole = present === undefined ? bytes : Buffer.concat([present, bytes]);
  const commit = async (rename: () => Promise<void>) => {
    await assertExpected(table, parent, like?.version);
    const read = async (most: number) => (present && present.length > most ? undefined : (present ?? null));
    await noteReplacement(table, parent, { after: whole, read });
    await rename();
  };
  await replaceFile(directory, name, { bytes: whole, writer: table.writer, like, commit });
  return like === undefined;
}

interface Replacing {
  readonly after: Uint8Array;
  /** Reads what is replaced: null for nothing, undefined for more than `most` bytes. */
  readonly read: (most: number) => Promise<Uint8Array | null | undefined>;
}

async function noteReplacement(table: ScopeTable, { virtualPath, scope, path }: ParentFolder, { after, read }: Replacing) {
  const listener: ReplacementListener | undefined = table.beforeReplacing;
  if (!listener) return;
  const root = table.root(scope).realPath;
  await listener.note({ virtualPath, root, components: path, before: await read(listener.maxBytes), after });
}

async function readWhole({ directory, name }: ParentFolder, like: EntryFacts | undefined, most: number) {
  if (like === undefined) return null;
  if (like.bytes > most) return undefined;
  return closing(await directory.openFile(name), async (file) =>
    file.facts.version === like.version ? file.read(most) : undefined,
  );
}

/** Removes a file. Rejects with `changed` if it is not the expected one. Leaves its folder, empty or not. */
export async function removeFile(table: ScopeTable, path: ResolvedPath, expect: string): Promise<void> {
  assertNotRoot(table, path);
  return inParent(table, path, async (parent) => {
    await lookToWrite(table, parent);
    const { directory, name } = parent;
    await lockForWriting({ directory, name, writer: table.writer }, async () => {
      await assertExpected(table, parent, expect);
      await directory.removeFile(name);
    });
    await directory.sync();
  });
}

interface WriteSteps<T> {
  readonly check: (parent: ParentFolder) => Promise<EntryFacts | undefined>;
  readonly write: (parent: ParentFolder, like: EntryFacts | undefined) => Promise<T>;
}

/** Makes the missing folders between check and write. */
async function writeInParent<T>(table: ScopeTable, path: ResolvedPath, { check, write }: WriteSteps<T>): Promise<T> {
  assertNotRoot(table, path);
  return inParent(table, path, async (found) => {
    const present = await check(found);
    const parent = await makeMissingFolders(table, found);
    try {
      // Checked again: a folder that was made or found can lie in a deeper scope.
      const like = found.missing.length === 0 ? present : await check(parent);
      if (table.isFirstWriteIn(parent.directory.identity)) await removeLeftOvers(parent.directory, table.writer);
      return await write(parent, like);
    } finally {
      if (parent.directory !== found.directory) await parent.close();
    }
  });
}

async function makeMissingFolders(table: ScopeTable, found: ParentFolder): Promise<ParentFolder> {
  let folder: OpenFolder = found;
  for (const name of found.missing) {
    const above = folder;
    try {
      await makeFolder(above.directory, name, { writer: table.writer });
      await above.directory.sync();
      folder = await openSubfolder(table, above, name);
    } finally {
      if (above !== found) await above.close();
    }
  }
  return toParent(table, folder, [found.name]);
}

async function writtenFacts(table: ScopeTable, parent: ParentFolder): Promise<FileFacts> {
  const facts = await lookAt(table, parent);
  if (facts === undefined) throw refuse.changedMeanwhile(parent.virtualPath);
  return toFileFacts(parent, facts);
}

async function lookToAppend(table: ScopeTable, parent: ParentFolder, bytes: Uint8Array): Promise<EntryFacts | undefined> {
  const facts = await lookToWrite(table, parent);
  const present = facts?.bytes ?? 0;
  if (present > maxReadBytes) throw refuse.fileTooLarge(parent.virtualPath, maxReadBytes);
  assertAllowed(table, parent, present + bytes.length);
  return facts;
}

function assertAllowed(table: ScopeTable, { scope, path, virtualPath }: ParentFolder, bytes: number): void {
  if (table.protection(scope, path) === "program") throw refuse.pathProtected(virtualPath);
  const limit = scope.maxFileBytes;
  if (limit !== undefined && bytes > limit) throw refuse.fileTooLarge(virtualPath, limit);
}

async function assertExpected(table: ScopeTable, parent: ParentFolder, expect: string | undefined): Promise<void> {
  const facts = await lookAt(table, parent);
  if (facts?.version !== expect) throw refuse.changedMeanwhile(parent.virtualPath);
  await assertInPlace(table, parent.scope);
}

/** The facts of a file that may be read as far as rights, suffix and kind go. */
export async function lookToRead(table: ScopeTable, parent: ParentFolder): Promise<EntryFacts> {
  const facts = await lookAt(table, parent);
  assertFile(parent, facts);
  assertSuffix(parent);
  if (facts === undefined) throw await notFoundIn(table, parent);
  return facts;
}

async function lookToWrite(table: ScopeTable, parent: ParentFolder): Promise<EntryFacts | undefined> {
  const { scope, virtualPath } = parent;
  if (scope.mode !== "rw") throw refuse.pathNotWritable(virtualPath, scope, table.allowed);
  const facts = await lookAt(table, parent);
  assertFile(parent, facts);
  if (facts === undefined) assertNoLostRoot(table, parent);
  assertSuffix(parent);
  // A rename would not ask for the right to write: a read-only file is left alone all the same.
  if (facts !== undefined && (facts.mode & 0o222) === 0) throw refuse.systemRefused(virtualPath, new SystemError("EACCES"));
  return facts;
}

function assertFile({ virtualPath }: ParentFolder, facts: EntryFacts | undefined): void {
  if (facts?.type === "directory") throw refuse.notAFile(virtualPath, "a folder");
  if (facts !== undefined && facts.type !== "file") throw refuse.notAFile(virtualPath, "not a regular file");
}

function assertSuffix({ scope, name, virtualPath }: ParentFolder): void {
  if (!hasSuffix(scope, name)) throw refuse.suffixNotAllowed(virtualPath, scope.suffixes ?? []);
}

function assertNotRoot(table: ScopeTable, path: ResolvedPath): void {
  if (path.components.length === 0) throw refuse.notAFile(table.format(path.scope, []), "a folder");
}

/** Rejects a path at or below the root of a deeper scope that has vanished: it would be made with the outer scope's rights. */
function assertNoLostRoot(table: ScopeTable, { scope, components, path }: ParentFolder): void {
  for (let length = components.length + 1; length <= path.length; length++) {
    const lost = table.rootAt(scope, path.slice(0, length));
    if (lost !== undefined) throw refuse.replacedRoot(table.format(lost.declaration, []));
  }
}

/** Runs a function with the parent of a path, and translates system errors to refusals. */
export async function inParent<T>(table: ScopeTable, path: ResolvedPath, use: (parent: ParentFolder) => Promise<T>): Promise<T> {
  return closing(await openParent(table, path), async (parent) => {
    try {
      return await use(parent);
    } catch (error) {
      if (error instanceof ScopeError) throw error;
      const { virtualPath } = parent;
      const code = errorCode(error);
      if (code === "ELOOP") throw refuse.linkRefused(virtualPath, table.allowed);
      if (code === "ENXIO") throw refuse.notAFile(virtualPath, "not a regular file");
      if (code === "EISDIR") throw refuse.notAFile(virtualPath, "a folder");
      if (code === "ENOENT") throw await notFoundIn(table, parent);
      throw refuse.systemRefused(virtualPath, error);
    }
  });
}
