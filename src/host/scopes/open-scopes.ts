import { basename, dirname, join } from "node:path";
import { getOrMake } from "../../util/get-or-make.ts";
import type { CommandFolder } from "../command/command-folder.ts";
import type { RootDirectory } from "../files/directory.ts";
import { makeBelow, type NearestFolder, openNearest } from "../files/make-folders.ts";
import { errorCode, SystemError } from "../files/system-error.ts";
import type { Writer } from "../files/temporary-name.ts";
import type { OpenScopesOptions } from "../host.ts";
import { isPrivatePath } from "../own-files/private-folders.ts";
import { createEmptyRoot } from "./empty-root.ts";
import { coveredScopes, createAccess } from "./scope-access.ts";
import { appendFile, findFacts, findNames, inspectPath, readFile, writeFile } from "./scope-files.ts";
import { listFiles } from "./scope-list.ts";
import { describeScope } from "./scope-refusals.ts";
import { searchFiles } from "./scope-search.ts";
import {
  assertNotPrivate,
  createPrivatePlaces,
  createProgramPlaces,
  nowhere,
  type PlacedRoot,
  type PrivatePlaces,
  type ProgramPlaces,
  ScopePaths,
  type ScopeRoot,
  ScopeTable,
} from "./scope-table.ts";
import { isPinnedAlone, type ScopeDeclaration, ScopeError, type Scopes } from "./scopes.ts";
import { sweepLater } from "./sweep-scopes.ts";

/** The part of an operating system that scopes use. */
export interface ScopeSystem {
  /** Resolves links on the way once. Rejects with `ENOENT`, `ENOTDIR`, … */
  openRoot(path: string): Promise<RootDirectory>;
  realPath(path: string): Promise<string>;
  /** Returns true if there is nothing for certain, not even a link: an error of `realPath` takes longer. Never throws. Absent: not known. */
  isMissing?(path: string): boolean;
  readonly writer: Writer;
  /** The number of the user that the process runs as. Absent: the system has none, or none that own files. */
  readonly user?: number;
  /** Names that the system reads as other names are refused (Windows). */
  readonly strictNames: boolean;
  /** Host paths of folders that nothing reaches through a scope. Default: none. */
  readonly privateFolders?: readonly string[];
  /** Makes an empty folder for commands, which the caller removes. */
  makeCommandFolder(): Promise<CommandFolder>;
}

/** Scopes whose folders are open. */
interface OpenTable {
  readonly table: ScopeTable;
  close(): Promise<void>;
}

export async function openScopes(
  system: ScopeSystem,
  declarations: readonly ScopeDeclaration[],
  options: OpenScopesOptions = {},
): Promise<Scopes> {
  const program = declarations.length > 0 ? await placesOf(system, options) : nowhere;
  const placed = options.atFirstUse === true ? placesOfRoots(declarations) : undefined;
  const open = () => openTable(system, declarations, { ...options, program });
  if (placed) {
    const privatePlaces = await privatePlacesFor(system, options);
    for (const { declaration, realPath } of placed) assertNotPrivate(declaration, realPath, privatePlaces);
    const paths = new ScopePaths({ roots: placed, program, strictNames: system.strictNames });
    const openForCommands = isPinnedAlone(declarations) ? () => openCommandScopes(system, declarations, options) : undefined;
    return toScopes(paths, { open, atFirstUse: true, openForCommands });
  }
  const opened = await open();
  const openForCommands = isPinnedAlone(declarations) ? () => openCommandScopes(system, declarations, options) : undefined;
  return toScopes(opened.table, { open: async () => opened, openForCommands });
}

/** Finds the places of roots without looking: a root that leads elsewhere is refused when it is opened. Undefined if one is not known. */
function placesOfRoots(declarations: readonly ScopeDeclaration[]): readonly PlacedRoot[] | undefined {
  const placed = declarations.flatMap((declaration) => {
    const { realRoot: realPath } = declaration;
    return realPath === undefined ? [] : [{ declaration, realPath }];
  });
  return placed.length > 0 && placed.length === declarations.length ? placed : undefined;
}

async function openTable(
  system: ScopeSystem,
  declarations: readonly ScopeDeclaration[],
  options: OpenScopesOptions & { readonly program: ProgramPlaces },
): Promise<OpenTable> {
  const roots: ScopeRoot[] = [];
  try {
    const privatePlaces = declarations.length > 0 ? await privatePlacesFor(system, options) : nowhere;
    for (const declaration of declarations) roots.push(await shareRoot(system, declaration, { ...options, privatePlaces }));
    const { writer, strictNames } = system;
    const { program, beforeReplacing } = options;
    const table = new ScopeTable({ roots, program, privatePlaces, writer, strictNames, beforeReplacing });
    // A dry run changes no folder.
    const sweep = options.missingRoots === "pretend" ? undefined : sweepLater(table);
    const close = async () => {
      await sweep?.();
      await closeRoots(roots);
    };
    return { table, close };
  } catch (error) {
    await closeRoots(roots);
    throw error;
  }
}

/** One scope, in an empty folder of its own, beside pinned ones. A pretended one is empty, and nothing is made. */
async function openCommandScopes(
  system: ScopeSystem,
  pinned: readonly ScopeDeclaration[],
  options: OpenScopesOptions,
): Promise<Scopes> {
  const { missingRoots } = options;
  const isPretended = missingRoots === "pretend";
  const folder = isPretended ? { path: "/llm-do-commands", remove: async () => {} } : await system.makeCommandFolder();
  const declaration = { name: ".", root: folder.path, realRoot: folder.path, mode: "rw" } as const;
  const roots: ScopeRoot[] = [];
  try {
    const directory = isPretended ? createEmptyRoot(folder.path) : await system.openRoot(folder.path);
    roots.push({ declaration, realPath: directory.realPath, directory, release: () => directory.close() });
    const privatePlaces = await privatePlacesFor(system, options);
    for (const one of pinned) roots.push(await shareRoot(system, one, { ...options, privatePlaces }));
    const { writer, strictNames } = system;
    const table = new ScopeTable({ roots, program: nowhere, privatePlaces, writer, strictNames, beforeReplacing: undefined });
    const opened = { table, close: () => closeRoots(roots).finally(folder.remove) };
    return toScopes(table, { open: async () => opened });
  } catch (error) {
    await closeRoots(roots);
    await folder.remove();
    throw error;
  }
}

const known = new WeakMap<object, Promise<PrivatePlaces>>();

function privatePlacesFor(system: ScopeSystem, { owner = {} }: OpenScopesOptions): Promise<PrivatePlaces> {
  return getOrMake(known, owner, async () => createPrivatePlaces(await realPrivateFolders(system)));
}

/** Resolves links on the way to the private folders. */
export async function realPrivateFolders(system: ScopeSystem): Promise<readonly string[]> {
  const known = new Map<string, Promise<string>>();
  return Promise.all((system.privateFolders ?? []).map((path) => realPathOf(system, path, known)));
}

const places = new WeakMap<ScopeSystem, WeakMap<readonly string[], Promise<ProgramPlaces>>>();

/** Finds the files of a program and their folder, once for each list of files: a program runs as it was compiled. */
function placesOf(system: ScopeSystem, options: OpenScopesOptions): Promise<ProgramPlaces> {
  const { programFiles = [] } = options;
  const found = getOrMake(places, system, () => new WeakMap<readonly string[], Promise<ProgramPlaces>>());
  return getOrMake(found, programFiles, () => findPlaces(system, options));
}

async function findPlaces(system: ScopeSystem, options: OpenScopesOptions): Promise<ProgramPlaces> {
  const { programFiles: files = [], programFolder: folder, codeFolders = [], scopeRoots = [] } = options;
  const known = new Map<string, Promise<string>>();
  /** As written, with the links of its folder resolved, and with its own. */
  const spell = async (path: string) => {
    const above = await realPathOf(system, dirname(path), known);
    return [path, join(above, basename(path)), await realPathOf(system, path)];
  };
  const [places, roots] = await Promise.all(
    [files, scopeRoots].map(async (paths) => (await Promise.all(paths.map(spell))).flat()),
  );
  const programFolder = folder === undefined ? undefined : await system.realPath(folder).catch(() => folder);
  return createProgramPlaces(places ?? [], programFolder, { codeFolders, roots: roots ?? [] });
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

interface OpeningRoots extends OpenScopesOptions {
  readonly privatePlaces: PrivatePlaces;
}

/** Opens a root, or takes the one that other scopes of the owner hold open: a thousand calls at once hold one folder open. */
async function shareRoot(
  system: ScopeSystem,
  declaration: ScopeDeclaration,
  { owner = {}, missingRoots, privatePlaces }: OpeningRoots,
): Promise<ScopeRoot> {
  const open = getOrMake(sharedRoots, owner, () => new Map<string, SharedRoot>());
  const key = `${declaration.root}\n${declaration.realRoot ?? ""}`;
  const release = async (root: SharedRoot) => {
    if (--root.users > 0) return;
    if (open.get(key) === root) open.delete(key);
    await root.directory.close();
  };
  const lend = (root: SharedRoot) => {
    let released: Promise<void> | undefined;
    const { directory } = root;
    return { declaration, realPath: directory.realPath, directory, release: () => (released ??= release(root)) };
  };
  const known = open.get(key);
  if (known) {
    known.users++;
    if (await known.directory.isInPlace()) return lend(known);
    await release(known);
  }
  const opened = { directory: await openRoot(system, declaration, { missing: missingRoots, privatePlaces }), users: 1 };
  open.set(key, opened);
  return lend(opened);
}

async function openRoot(
  system: ScopeSystem,
  declaration: ScopeDeclaration,
  { missing, privatePlaces }: { readonly missing: MissingRoots; readonly privatePlaces: PrivatePlaces },
): Promise<RootDirectory> {
  try {
    const nearest = await openNearest(system, declaration.root);
    const path = join(nearest.directory.realPath, ...nearest.missing);
    const isPlaced = path === (declaration.realRoot ?? path) && !isPrivatePath(path, privatePlaces.privateFolders);
    if (isPlaced) return await openOrMake(system, nearest, { declaration, path, missing });
    await nearest.directory.close();
    assertNotPrivate(declaration, path, privatePlaces);
  } catch (error) {
    throw error instanceof ScopeError ? error : rootRefused(declaration, error);
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

const tables = new WeakMap<Scopes, () => Promise<ScopeTable>>();

/** The open directories behind scopes, for what runs commands in them. Opens scopes that are not open yet. */
export async function scopeTable(scopes: Scopes): Promise<ScopeTable> {
  const open = tables.get(scopes);
  if (open === undefined) throw new TypeError("these scopes were not opened by this host");
  return open();
}

interface ScopeLife {
  /** Called once; never for scopes that were closed before. */
  readonly open: () => Promise<OpenTable>;
  /** Default: at once. */
  readonly atFirstUse?: true;
  /** Only where nothing is declared: opens what commands run in. */
  readonly openForCommands?: (() => Promise<Scopes>) | undefined;
}

/** `paths` answers what needs no disk; all that touches it waits for the open table. */
function toScopes(paths: ScopePaths, life: ScopeLife): Scopes {
  let opening = life.atFirstUse ? undefined : life.open();
  let forCommands: Promise<Scopes> | undefined;
  let isClosed = false;
  const unlessClosed = async <T>(open: () => Promise<T>): Promise<T> => {
    if (isClosed) throw new ScopeError("io_error", "The scopes are closed.");
    return open();
  };
  const open = async () => {
    opening ??= unlessClosed(life.open);
    return (await opening).table;
  };
  const { at, below, change, can, settled } = createAccess(paths, open);
  const scopes: Scopes = {
    declarations: paths.roots.map((root) => root.declaration),
    readable: () => paths.allowed.readable,
    writable: () => paths.allowed.writable,
    resolve: (virtualPath) => paths.resolve(virtualPath),
    facts: (virtualPath) => at(virtualPath, findFacts),
    inspect: (virtualPath, access) => at(virtualPath, (table, path) => inspectPath(table, path, access)),
    protection: (path) => paths.protection(path.scope, path.components),
    target: (virtualPath) => paths.target(paths.resolve(virtualPath)),
    covered: (virtualPath) => coveredScopes(paths, virtualPath),
    read: (virtualPath, options) => at(virtualPath, (table, path) => readFile(table, path, options?.maxBytes)),
    write: (virtualPath, bytes, options) => change(virtualPath, (table, path) => writeFile(table, path, { bytes, ...options })),
    append: (virtualPath, bytes) => change(virtualPath, (table, path) => appendFile(table, path, bytes)),
    list: (virtualPath, options) => below(virtualPath, (table) => listFiles(table, virtualPath, options)),
    search: (virtualPath, options) => below(virtualPath, (table) => searchFiles(table, virtualPath, options)),
    names: (virtualPath, most) => at(virtualPath, (table, path) => findNames(table, path, most)),
    canRead: (virtualPath) => can(virtualPath, "read"),
    canWrite: (virtualPath) => can(virtualPath, "write"),
    forCommands: async () => {
      if (life.openForCommands) forCommands ??= unlessClosed(life.openForCommands);
      else await open();
      return forCommands ?? scopes;
    },
    close: async () => {
      isClosed = true;
      const ignore = () => undefined;
      await forCommands?.then((own) => own.close(), ignore);
      await settled();
      await opening?.then((opened) => opened.close(), ignore);
    },
  };
  tables.set(scopes, open);
  return scopes;
}

async function closeRoots(roots: readonly ScopeRoot[]): Promise<void> {
  await Promise.all(roots.map((root) => root.release()));
}
