import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { entriesOf } from "./look.ts";

/** Folders that are listed before others get their turn. */
const batch = 200;

/**
 * Finds pipes, sockets and devices below a folder, as host paths: each leads out of a wall, even where its folder is read-only. For
 * folders that are not walked otherwise, such as those of dependencies. Takes some hundredths of a millisecond for each folder.
 */
export async function findSpecialFiles(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [folder];
  for (let count = 1, at = folders.pop(); at !== undefined; at = folders.pop(), count++) {
    for (const entry of entriesOf(at)) {
      if (entry.isDirectory()) folders.push(join(at, entry.name));
      else if (!entry.isFile() && !entry.isSymbolicLink()) found.push(join(at, entry.name));
    }
    if (count % batch === 0) await setImmediate();
  }
  return found;
}
