import { delimiter, isAbsolute, join } from "node:path";
import { isWithin } from "../../util/within.ts";
import { variable } from "../host.ts";
import { isExecutable, realPathOf, statOf } from "./look.ts";
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
export function findProgramPath(facts: PathFacts): readonly string[] {
  const given = (variable(facts, "PATH") ?? "").split(delimiter);
  const found = keepUsable(given, facts);
  return found.length > 0 ? found : keepUsable(usual, facts);
}

function keepUsable(entries: readonly string[], facts: PathFacts): string[] {
  const kept: string[] = [];
  for (const entry of new Set(entries)) {
    if (!isAbsolute(entry) || entry.includes("\0")) continue;
    const real = realPathOf(entry);
    if (real === undefined || !statOf(real)?.isDirectory()) continue;
    const isHome = facts.homes.some((home) => isWithin(home, real) || isWithin(home, entry));
    const isWritable = facts.writable.some((root) => isWithin(real, root) || isWithin(entry, root));
    if (!isHome && !isWritable) kept.push(entry);
  }
  return kept;
}

/** The first executable file of that name. */
export function findProgram(name: string, path: readonly string[]): string | undefined {
  if (name === "" || /[/\\\0]/.test(name)) return undefined;
  for (const folder of path) {
    for (const suffix of process.platform === "win32" ? [".exe", ".com", ""] : [""]) {
      const candidate = join(folder, `${name}${suffix}`);
      if (isExecutable(candidate)) return candidate;
    }
  }
  return undefined;
}

/**
 * A program that runs outside of the wall, or is the wall: from a folder of the system, wherever PATH names it. A folder of PATH such
 * as `node_modules/.bin` can hold what a program brought or a command made.
 */
export function findSystemProgram(name: string, path: readonly string[]): string | undefined {
  for (const folder of [...systemFolders, ...path]) {
    const found = findProgram(name, [folder]);
    const real = found && realPathOf(found);
    if (real !== undefined && programFolders.some((place) => isWithin(real, place))) return found;
  }
  return undefined;
}

const systemFolders = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
