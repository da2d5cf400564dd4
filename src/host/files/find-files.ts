import { glob } from "node:fs/promises";
import { join } from "node:path";

/** Finds files of a name at any depth below a folder, but for those of packages. Absolute paths. */
export async function findFiles(folder: string, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  const options = { cwd: folder, exclude: (path: string) => path.includes("node_modules") };
  for await (const path of glob(`**/${name}`, options)) found.push(join(folder, path));
  return found;
}
