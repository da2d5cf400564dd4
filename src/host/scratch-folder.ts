import { cp, lstat, mkdtemp, readdir, readlink, realpath, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isWithin } from "../util/within.ts";
import { createTemporaryFolders } from "./command/command-folder.ts";
import { createNodeWriter } from "./files/node-system.ts";
import { createNodeProcesses } from "./node-processes.ts";

/** A copy of a folder in the system's temporary folder. */
export interface ScratchFolder {
  /** Real path of the copy. */
  readonly path: string;
  /** Real path of what holds it; the caller removes it. */
  readonly parent: string;
}

/** Made when a process needs the first one. */
let makeOwned: (() => Promise<string>) | undefined;

/** Not copied: packages are linked, and records and history belong to the folder itself. */
const left = new Set(["node_modules", ".llm-do", ".git"]);

/**
 * Copies a folder, but for `without`: paths relative to it; `.` copies nothing. Links stay links; those that lead out of the folder are left out, so that
 * nothing is changed through the copy. The nearest `node_modules` is linked beside the copy, so that its code finds the packages
 * that it has. A later process removes the copy of a killed one, unless it is to be kept.
 */
export async function createScratchFolder(
  folder: string,
  { without = [], isKept = false }: { readonly without?: readonly string[]; readonly isKept?: boolean } = {},
): Promise<ScratchFolder> {
  makeOwned ??= createTemporaryFolders("llm-do-test_", createNodeProcesses(createNodeWriter()));
  const parent = isKept ? await realpath(await mkdtemp(join(tmpdir(), "llm-do-test-"))) : await makeOwned();
  const path = join(parent, basename(folder) || "program");
  const omitted = new Set(without.map((name) => resolve(folder, name)));
  const real = await realpath(folder);
  const filter = async (from: string) =>
    !omitted.has(from) && (from === folder || !(left.has(basename(from)) || (await leadsOut(from, real))));
  await cp(folder, path, { recursive: true, verbatimSymlinks: true, filter });
  const packages = await findPackages(folder);
  if (packages !== undefined) await symlink(packages, join(parent, "node_modules"), "junction");
  return { path, parent };
}

/** A link by an absolute path leads out of the copy even where it leads into the folder. */
async function leadsOut(path: string, folder: string): Promise<boolean> {
  if (!(await lstat(path)).isSymbolicLink()) return false;
  if (isAbsolute(await readlink(path))) return true;
  const target = await realpath(path).catch(() => undefined);
  return target === undefined || !isWithin(target, folder);
}

/** Copies a file or a folder into a scratch folder, over what is there, without links that lead out of it. */
export async function copyInto(from: string, to: string): Promise<void> {
  const real = await realpath(from);
  const filter = async (path: string) => path === real || !(await leadsOut(path, real));
  await cp(real, to, { recursive: true, verbatimSymlinks: true, filter });
}

/** Lists all files below a folder, with `/` between folders, sorted. Folders that `enters` refuses by their path are passed over. */
export async function listFiles(
  folder: string,
  enters: (path: string) => boolean | Promise<boolean> = () => true,
): Promise<readonly string[]> {
  const walk = async (path: string): Promise<readonly string[]> => {
    const entries = await readdir(join(folder, path), { withFileTypes: true });
    const found = entries.map(async (entry) => {
      const below = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) return (await enters(below)) ? walk(below) : [];
      return entry.isFile() ? [below] : [];
    });
    return (await Promise.all(found)).flat();
  };
  return [...(await walk(""))].sort();
}

async function findPackages(folder: string): Promise<string | undefined> {
  const path = join(folder, "node_modules");
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined || dirname(folder) === folder) return found;
  return findPackages(dirname(folder));
}
