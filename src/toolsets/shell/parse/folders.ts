import { nameSet } from "../../../util/text/name-set.ts";
import type { Folder, Folders, ShellWord } from "./plan.ts";

/** Folders of the shell after a command: after it succeeded, and after it failed. */
export interface Flow {
  readonly ok: Folders;
  readonly failed: Folders;
}

const mostFolders = 8;
const deepestFolder = 100;

export function staying(folders: Folders): Flow {
  return { ok: folders, failed: folders };
}

export function either(a: Folders, b: Folders): Folders {
  if (a === undefined || b === undefined) return undefined;
  const all = new Map([...a, ...b].map((folder) => [folder.join("/"), folder]));
  return all.size > mostFolders ? undefined : [...all.values()];
}

/** Commands after which the folder of the shell is not known, because of what they may run in it. */
const wanderers = nameSet("pushd popd eval source . builtin command trap exec alias enable shopt");

export function mayWander(program: ShellWord | undefined): boolean {
  return program !== undefined && (program.kind !== "static" || program.value === "cd" || wanderers.has(program.value));
}

/** Follows a simple command into another folder. Only `cd FOLDER`, spelt out, is understood. */
export function flowAfter(words: readonly ShellWord[], folders: Folders): Flow {
  const [program, target, ...more] = words;
  if (!mayWander(program)) return staying(folders);
  const isPlainMove = program?.value === "cd" && target?.kind === "static" && more.length === 0;
  if (!isPlainMove || folders === undefined || target.value === "-") return { ok: undefined, failed: undefined };
  const moved = folders.map((folder) => followPath(folder, target.value));
  return { ok: moved.every((folder) => folder !== undefined) ? moved : undefined, failed: folders };
}

/**
 * Follows a relative path from a folder, in components below the scope's root. Undefined if it leaves the scope, or
 * if names before a `..` could be links.
 */
export function followPath(folder: Folder, path: string): Folder | undefined {
  if (path.startsWith("/") || path.startsWith("~") || path.includes("\0")) return undefined;
  const components = [...folder];
  let named = false;
  for (const component of path.split("/")) {
    if (component === "" || component === ".") continue;
    if (component === "..") {
      if (named || components.pop() === undefined) return undefined;
      continue;
    }
    components.push(component);
    named = true;
  }
  return components.length > deepestFolder ? undefined : components;
}
