import { lstat, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** Those of some paths in a folder that cannot be made: something is there, or where a folder has to be there is none. */
export async function findTaken(folder: string, paths: Iterable<string>): Promise<string[]> {
  const taken = new Set<string>();
  for (const path of paths) {
    const [first, ...rest] = path.split("/");
    let at = first ?? path;
    for (const part of rest) {
      if (!(await isFolderOrMissing(join(folder, at)))) taken.add(at);
      at = `${at}/${part}`;
    }
    if ((await kindOf(join(folder, path))) !== undefined) taken.add(path);
  }
  return [...taken];
}

/** Below the folder that the user names, a link can lead anywhere. */
async function isFolderOrMissing(path: string): Promise<boolean> {
  return (await kindOf(path)) === undefined || (await lstat(path)).isDirectory();
}

/** Returns the kind of the entry at a path, without following a link. */
export async function kindOf(path: string): Promise<"folder" | "other" | undefined> {
  try {
    const stats = await lstat(path);
    if (!stats.isSymbolicLink()) return stats.isDirectory() ? "folder" : "other";
    const target = await stat(path).catch(() => undefined);
    return target?.isDirectory() ? "folder" : "other";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Makes all of the files and does the rest, or nothing: what was made before a failure is removed. Overwrites nothing. Default for `rest`: nothing. */
export async function writeNewFiles(
  folder: string,
  files: ReadonlyMap<string, string | Uint8Array>,
  rest?: () => Promise<void>,
): Promise<void> {
  const made: string[] = [];
  try {
    for (const [path, text] of files) {
      const file = resolve(folder, path);
      const newFolder = await mkdir(dirname(file), { recursive: true });
      if (newFolder !== undefined) made.push(newFolder);
      await writeFile(file, text, { flag: "wx" });
      made.push(file);
    }
    await rest?.();
  } catch (error) {
    for (const path of made.reverse()) await rm(path, { recursive: true, force: true });
    throw error;
  }
}
