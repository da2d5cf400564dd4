import { basename, dirname, join } from "node:path";
import { getOrMake } from "../util/get-or-make.ts";
import type { CommandFolder } from "./command-folder.ts";
import type { RootDirectory } from "./directory.ts";
import { createEmptyRoot } from "./empty-root.ts";
import type { OpenScopesOptions } from "./host.ts";
import { makeBelow, type NearestFolder, openNearest } from "./make-folders.ts";
import { appendFile, findFacts, findNames, inspectPath, readFile, writeFile } from "./scope-files.ts";
import { isEverything, listFiles } from "./scope-list.ts";
import { describeScope } from "./scope-refusals.ts";
import { searchFiles } from "./scope-search.ts";
import {
  createPrivatePlaces,
  createProgramPlaces,
  type ProgramPlaces,
  type ScopeRoot,
  ScopeTable,
  type Surroundings,
} from "./scope-table.ts";
import { assertInPlace } from "./scope-walk.ts";
import { type ResolvedPath, type ScopeDeclaration, ScopeError, type Scopes } from "./scopes.ts";
import { sweepLater } from "./sweep-scopes.ts";
import { errorCode, SystemError } from "./system-error.ts";
import type { Writer } from "./temporary-name.ts";

/** The part of an operating system that scopes use. */
export interface ScopeSystem {
  /** Resolves links on the way once. Rejects with `ENOENT`, `ENOTDIR`, … */
  openRoot(path: string): Promise<RootDirectory>;
  realPath(path: string): Promise<string>;
  /** Returns true where there is nothing for certain, not even a link: an error of `realPath` takes longer. Never throws. Absent: not known. */
  isMissing?(path: string): boolean;
  readonly writer: Writer;
  /** Names that the system reads as other names are refused (Windows). */
  readonly strictNames: boolean;
  /** Host paths of folders that nothing reaches through a scope. Default: none. */
  readonly privateFolders?: readonly string[];
  /** Makes an empty folder for commands, which the caller removes. */
  makeCommandFolder(): Promise<CommandFolder>;
}

export async function openScopes(
  system: ScopeSystem,
  declarations: readonly ScopeDeclaration[],
  options: OpenScopesOptions = {},
): Promise<Scopes> {
  const roots: ScopeRoot[] = [];
  const isPretended = options.missingRoots === "pretend";
  try {
    for (const declaration of declarations) roots.push({ declaration, ...(await shareRoot(system, declaration, options)) });
    const table = await createTable(system, roots, options);
    // A dry run changes no folder.
    if (roots.length > 0) return toScopes(table, { sweep: isPretended ? undefined : sweepLater(table) });
    return toScopes(table, { openForCommands: () => openCommandScopes(system, isPretended) });
  } catch (error) {
    await closeRoots(roots);
    throw error;
  }
}

/** One scope, in an empty folder of its own. A pretended one is empty, and nothing is made. */
async function openCommandScopes(system: ScopeSystem, isPretended: boolean): Promise<Scopes> {
  const folder = isPretended ? { path: "/llm-do-commands", remove: async () => {} } : await system.makeCommandFolder();
  const declaration = { name: ".", root: folder.path, realRoot: folder.path, mode: "rw" } as const;
  try {
    const directory = isPretended ? createEmptyRoot(folder.path) : await system.openRoot(folder.path);
    const scopes = toScopes(await createTable(system, [{ declaration, directory, release: () => directory.close() }], {}), {});
    const close = () => scopes.close().finally(folder.remove);
    const own: Scopes = { ...scopes, forCommands: async () => own, close };
    tables.set(own, scopeTable(scopes));
    return own;
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

async function createTable(system: ScopeSystem, roots: readonly ScopeRoot[], options: OpenScopesOptions): Promise<ScopeTable> {
  const { writer, strictNames } = system;
  const surroundings = await surroundingsOf(system, options);
  return new ScopeTable({ roots, surroundings, writer, strictNames, beforeReplacing: options.beforeReplacing });
}

const known = new WeakMap<object, Promise<Surroundings>>();

function surroundingsOf(system: ScopeSystem, options: OpenScopesOptions): Promise<Surroundings> {
  const { owner } = options;
  return owner ? getOrMake(known, owner, () => lookAround(system, options)) : lookAround(system, options);
}

async function lookAround(system: ScopeSystem, { programFiles = [], programFolder }: OpenScopesOptions): Promise<Surroundings> {
  const program = await placesOf(system, programFiles, programFolder);
  return { ...program, ...createPrivatePlaces(await realPrivateFolders(system)) };
}

/** Resolves links on the way to the private folders. */
export async function realPrivateFolders(system: ScopeSystem): Promise<readonly string[]> {
  const known = new Map<string, Promise<string>>();
  return Promise.all((system.privateFolders ?? []).map((path) => realPathOf(system, path, known)));
}

const places = new WeakMap<ScopeSystem, WeakMap<readonly string[], Promise<ProgramPlaces>>>();

/** Finds the files of a program and their folder, once for each list of files: a program runs as it was compiled. */
function placesOf(system: ScopeSystem, files: readonly string[], folder: string | undefined): Promise<ProgramPlaces> {
  const found = getOrMake(places, system, () => new WeakMap<readonly string[], Promise<ProgramPlaces>>());
  return getOrMake(found, files, () => findPlaces(system, files, folder));
}

async function findPlaces(system: ScopeSystem, files: readonly string[], folder: string | undefined): Promise<ProgramPlaces> {
  const real = await Promise.all(files.map((path) => realPathOf(system, path)));
  const programFolder = folder === undefined ? undefined : await system.realPath(folder).catch(() => folder);
  // Both spellings: the path as written, and its real path.
  return createProgramPlaces([...files, ...real], programFolder);
}

/** The real path; of a missing file, the real path of the nearest folder with the rest. `known`: of folders that several paths lie in. */
async function realPathOf(system: ScopeSystem, path: string, known = new Map<string, Promise<string>>()): Promise<string> {
  const names: string[] = [];
  let folder = path;
  const leave = () => {
    names.unshift(basename(folder));
    folder = dirname(folder);
  };
  while (system.isMissing?.(folder) && folder !== dirname(folder)) leave();
  for (;;) {
    try {
      return join(await getOrMake(known, folder, () => system.realPath(folder)), ...names);
    } catch {
      if (folder === dirname(folder)) return path;
      leave();
    }
  }
}

type MissingRoots = OpenScopesOptions["missingRoots"];

interface SharedRoot {
  readonly directory: RootDirectory;
  users: number;
}

const sharedRoots = new WeakMap<object, Map<string, SharedRoot>>();

/** Opens a root, or takes the one that other scopes of the owner hold open: a thousand calls at once hold one folder open. */
async function shareRoot(
  system: ScopeSystem,
  declaration: ScopeDeclaration,
  { owner = {}, missingRoots }: OpenScopesOptions,
): Promise<Omit<ScopeRoot, "declaration">> {
  const open = getOrMake(sharedRoots, owner, () => new Map<string, SharedRoot>());
  const key = `${declaration.root}\n${declaration.realRoot ?? ""}`;
  const release = async (root: SharedRoot) => {
    if (--root.users > 0) return;
    if (open.get(key) === root) open.delete(key);
    await root.directory.close();
  };
  const lend = (root: SharedRoot) => {
    let released: Promise<void> | undefined;
    return { directory: root.directory, release: () => (released ??= release(root)) };
  };
  const known = open.get(key);
  if (known) {
    known.users++;
    if (await known.directory.isInPlace()) return lend(known);
    await release(known);
  }
  const opened = { directory: await openRoot(system, declaration, missingRoots), users: 1 };
  open.set(key, opened);
  return lend(opened);
}

async function openRoot(system: ScopeSystem, declaration: ScopeDeclaration, missing: MissingRoots): Promise<RootDirectory> {
  try {
    const nearest = await openNearest(system, declaration.root);
    const path = join(nearest.directory.realPath, ...nearest.missing);
    if (path === (declaration.realRoot ?? path)) return await openOrMake(system, nearest, { declaration, path, missing });
    await nearest.directory.close();
  } catch (error) {
    throw rootRefused(declaration, error);
  }
  throw rootMoved(declaration);
}

interface OpenedRoot {
  readonly declaration: ScopeDeclaration;
  /** Without links. */
  readonly path: string;
  readonly missing: MissingRoots;
}

/** Takes over the nearest folder. Makes what is missing below it without following a link. */
async function openOrMake(system: ScopeSystem, nearest: NearestFolder, opened: OpenedRoot): Promise<RootDirectory> {
  const { declaration, path, missing } = opened;
  if (nearest.missing.length === 0) return nearest.directory;
  if (declaration.mode === "rw" && missing !== "pretend") {
    await makeBelow(nearest.directory, nearest.missing, { writer: system.writer });
    const made = await system.openRoot(path);
    if (made.realPath === path) return made;
    await made.close();
    throw new SystemError("ELOOP");
  }
  await nearest.directory.close();
  if (declaration.mode !== "rw") throw new SystemError("ENOENT");
  return createEmptyRoot(path);
}

function rootMoved({ name }: ScopeDeclaration): ScopeError {
  return new ScopeError(
    "io_error",
    `The folder of the scope ${describeScope(name)} leads elsewhere than when the program was compiled.`,
    {
      hint: "Look at the links on the way to it, and compile the program again.",
      details: { scope: name },
    },
  );
}

function rootRefused(declaration: ScopeDeclaration, error: unknown): ScopeError {
  const name = describeScope(declaration.name);
  const code = errorCode(error);
  const more = { hint: "Correct its root where it is declared.", details: { scope: declaration.name, code }, cause: error };
  if (code === "ENOENT") return new ScopeError("not_found", `The folder of the scope ${name} does not exist.`, more);
  if (code === "ENOTDIR" || code === "EEXIST") {
    return new ScopeError("not_a_directory", `The root of the scope ${name} is not a folder.`, more);
  }
  return new ScopeError("io_error", `The folder of the scope ${name} cannot be opened (${code}).`, more);
}

const tables = new WeakMap<Scopes, ScopeTable>();

/** The open directories behind scopes, for what runs commands in them. */
export function scopeTable(scopes: Scopes): ScopeTable {
  const table = tables.get(scopes);
  if (table === undefined) throw new TypeError("these scopes were not opened by this host");
  return table;
}

interface ScopeLife {
  /** Called and awaited by `close`. */
  readonly sweep?: (() => Promise<void>) | undefined;
  /** Only where nothing is declared: opens what commands run in. */
  readonly openForCommands?: () => Promise<Scopes>;
}

function toScopes(table: ScopeTable, { sweep, openForCommands }: ScopeLife): Scopes {
  let forCommands: Promise<Scopes> | undefined;
  const resolve = (virtualPath: string) => table.resolve(virtualPath);
  const inPlace = async (virtualPath: string) => {
    const path = resolve(virtualPath);
    await assertInPlace(table, path.scope);
    return path;
  };
  const allInPlace = async (virtualPath: string) => {
    const named = isEverything(table, virtualPath) ? table.roots : [table.root(resolve(virtualPath).scope)];
    for (const root of named) await assertInPlace(table, root.declaration);
  };
  const writing = new Set<Promise<unknown>>();
  const trackWrite = async <T>(virtualPath: string, write: (path: ResolvedPath) => Promise<T>): Promise<T> => {
    const running = inPlace(virtualPath).then(write);
    writing.add(running);
    return running.finally(() => writing.delete(running));
  };
  const scopes: Scopes = {
    declarations: table.roots.map((root) => root.declaration),
    readable: () => table.allowed.readable,
    writable: () => table.allowed.writable,
    resolve,
    facts: async (virtualPath) => findFacts(table, await inPlace(virtualPath)),
    inspect: async (virtualPath, access) => inspectPath(table, await inPlace(virtualPath), access),
    protection: (path) => table.protection(path.scope, path.components),
    target: (virtualPath) => table.target(resolve(virtualPath)),
    covered: (virtualPath) => coveredScopes(table, virtualPath),
    read: async (virtualPath, options) => readFile(table, await inPlace(virtualPath), options?.maxBytes),
    write: (virtualPath, bytes, options) => trackWrite(virtualPath, (path) => writeFile(table, path, { bytes, ...options })),
    append: (virtualPath, bytes) => trackWrite(virtualPath, (path) => appendFile(table, path, bytes)),
    list: async (virtualPath, options) => {
      await allInPlace(virtualPath);
      return listFiles(table, virtualPath, options);
    },
    search: async (virtualPath, options) => {
      await allInPlace(virtualPath);
      return searchFiles(table, virtualPath, options);
    },
    names: async (virtualPath, most) => findNames(table, await inPlace(virtualPath), most),
    canRead: (virtualPath) => can(table, virtualPath, "read"),
    canWrite: (virtualPath) => can(table, virtualPath, "write"),
    forCommands: async () => {
      forCommands ??= openForCommands?.();
      return forCommands ?? scopes;
    },
    close: async () => {
      await forCommands?.then(
        (own) => own.close(),
        () => undefined,
      );
      // An aborted call does not end its write, which could be neither completed nor undone in a closed folder.
      await Promise.allSettled(writing);
      await sweep?.();
      await closeRoots(table.roots);
    },
  };
  tables.set(scopes, table);
  return scopes;
}

function coveredScopes(table: ScopeTable, virtualPath: string): readonly ScopeDeclaration[] {
  if (isEverything(table, virtualPath)) return table.roots.map((root) => root.declaration);
  const { scope, components } = table.resolve(virtualPath);
  return table.covered(scope, components);
}

async function can(table: ScopeTable, virtualPath: string, access: "read" | "write"): Promise<boolean> {
  try {
    const { protection } = await inspectPath(table, table.resolve(virtualPath), access);
    return access === "read" || protection !== "program";
  } catch {
    return false;
  }
}

async function closeRoots(roots: readonly ScopeRoot[]): Promise<void> {
  await Promise.all(roots.map((root) => root.release()));
}
