import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin } from "../../util/within.ts";
import { variable } from "../host.ts";
import { programFolders } from "./program-folders.ts";

export interface PathFacts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A folder that is one of these or holds one is no place for programs. */
  readonly homes: readonly string[];
  /** Real paths of folders that a command can write to. */
  readonly writable: readonly string[];
}

const usual = ["/usr/local/bin", "/usr/bin", "/bin"];

/** The PATH of commands: the parent's, without what is relative, missing, a home directory or in reach of a command. */
export async function findProgramPath(facts: PathFacts): Promise<readonly string[]> {
  const given = (variable(facts, "PATH") ?? "").split(delimiter);
  const found = await keepUsable(given, facts);
  return found.length > 0 ? found : keepUsable(usual, facts);
}

async function keepUsable(entries: readonly string[], facts: PathFacts): Promise<string[]> {
  const kept: string[] = [];
  for (const entry of new Set(entries)) {
    if (!isAbsolute(entry) || entry.includes("\0")) continue;
    const real = await realpath(entry).catch(() => undefined);
    if (real === undefined || !(await stat(real)).isDirectory()) continue;
    const isHome = facts.homes.some((home) => isWithin(home, real) || isWithin(home, entry));
    const isWritable = facts.writable.some((root) => isWithin(real, root) || isWithin(entry, root));
    if (!isHome && !isWritable) kept.push(entry);
  }
  return kept;
}

/** The first executable file of that name. */
export async function findProgram(name: string, path: readonly string[]): Promise<string | undefined> {
  if (name === "" || /[/\\\0]/.test(name)) return undefined;
  for (const folder of path) {
    for (const suffix of process.platform === "win32" ? [".exe", ".com", ""] : [""]) {
      const candidate = join(folder, `${name}${suffix}`);
      if (await isExecutable(candidate)) return candidate;
    }
  }
  return undefined;
}

/**
 * A program that runs outside of the wall, or is the wall: from a folder of the system, wherever PATH names it. A folder of PATH such
 * as `node_modules/.bin` can hold what a program brought or a command made.
 */
export async function findSystemProgram(name: string, path: readonly string[]): Promise<string | undefined> {
  for (const folder of [...systemFolders, ...path]) {
    const found = await findProgram(name, [folder]);
    const real = found && (await realpath(found).catch(() => undefined));
    if (real !== undefined && programFolders.some((place) => isWithin(real, place))) return found;
  }
  return undefined;
}

const systemFolders = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
