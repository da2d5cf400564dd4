import type { RootDirectory } from "./directory.ts";
import type { OpenScopesOptions } from "./host.ts";
import { makeFolders } from "./make-folders.ts";
import { findFacts, inspectPath, readFile, writeFile } from "./scope-files.ts";
import { isEverything, listFiles } from "./scope-list.ts";
import { describeScope } from "./scope-refusals.ts";
import { type ScopeRoot, ScopeTable } from "./scope-table.ts";
import { type ScopeDeclaration, ScopeError, type Scopes } from "./scopes.ts";
import { sweepScopes } from "./sweep-scopes.ts";
import { errorCode } from "./system-error.ts";
import type { Writer } from "./temporary-name.ts";

/** What scopes need of an operating system. */
export interface ScopeSystem {
  /** Resolves links on the way once. Rejects with `ENOENT`, `ENOTDIR`, … */
  openRoot(path: string): Promise<RootDirectory>;
  realPath(path: string): Promise<string>;
  readonly writer: Writer;
  /** Names that the system reads as other names are refused (Windows). */
  readonly strictNames: boolean;
}

export async function openScopes(
  system: ScopeSystem,
  declarations: readonly ScopeDeclaration[],
  options: OpenScopesOptions = {},
): Promise<Scopes> {
  const roots: ScopeRoot[] = [];
  try {
    for (const declaration of declarations)
      roots.push({ declaration, directory: await openRoot(system, declaration, options.missingRoots) });
    const table = await createTable(system, roots, options);
    // Whoever only pretends that folders are there changes none.
    return toScopes(table, options.missingRoots === "pretend" ? undefined : sweepScopes(table));
  } catch (error) {
    await closeRoots(roots);
    throw error;
  }
}

async function createTable(system: ScopeSystem, roots: readonly ScopeRoot[], options: OpenScopesOptions): Promise<ScopeTable> {
  const real = (path: string) => system.realPath(path).catch(() => path);
  const files = options.programFiles ?? [];
  return new ScopeTable({
    roots,
    // Both spellings: what was written, and what it leads to.
    programFiles: [...files, ...(await Promise.all(files.map(real)))],
    programFolder: options.programFolder === undefined ? undefined : await real(options.programFolder),
    writer: system.writer,
    strictNames: system.strictNames,
  });
}

async function openRoot(
  system: ScopeSystem,
  declaration: ScopeDeclaration,
  missing: OpenScopesOptions["missingRoots"],
): Promise<RootDirectory> {
  try {
    return await system.openRoot(declaration.root);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || declaration.mode !== "rw") throw rootRefused(declaration, error);
  }
  if (missing === "pretend") return (await import("./memory-directory.ts")).openEmptyRoot(declaration.root);
  try {
    await makeFolders(system, declaration.root);
    return await system.openRoot(declaration.root);
  } catch (error) {
    throw rootRefused(declaration, error);
  }
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

/** `sweeping`: nobody waits for it but whoever closes the scopes. */
function toScopes(table: ScopeTable, sweeping: Promise<void> | undefined): Scopes {
  const resolve = (virtualPath: string) => table.resolve(virtualPath);
  const scopes: Scopes = {
    declarations: table.roots.map((root) => root.declaration),
    readable: () => table.allowed.readable,
    writable: () => table.allowed.writable,
    resolve,
    facts: async (virtualPath) => findFacts(table, resolve(virtualPath)),
    inspect: async (virtualPath, access) => inspectPath(table, resolve(virtualPath), access),
    protection: (path) => table.protection(path.scope, path.components),
    target: (virtualPath) => table.target(resolve(virtualPath)),
    covered: (virtualPath) => coveredScopes(table, virtualPath),
    read: async (virtualPath, options) => readFile(table, resolve(virtualPath), options?.maxBytes),
    write: async (virtualPath, bytes, options) => writeFile(table, resolve(virtualPath), { bytes, ...options }),
    list: (virtualPath, options) => listFiles(table, virtualPath, options),
    canRead: (virtualPath) => can(table, virtualPath, "read"),
    canWrite: (virtualPath) => can(table, virtualPath, "write"),
    close: async () => {
      await sweeping;
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
  await Promise.all(roots.map((root) => root.directory.close()));
}
