import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallFile } from "../../boundary/calls/recorded-calls.ts";

/** Writes the files of a case into a folder, each by its digest. */
export async function copyCaseFiles(
  files: readonly CallFile[],
  folder: string,
  read: (sha256: string) => Promise<Uint8Array>,
): Promise<void> {
  if (files.length > 0) await mkdir(folder, { recursive: true });
  for (const { sha256 } of files) {
    // A file of this digest has this content.
    await writeFile(join(folder, sha256), await read(sha256), { flag: "wx" }).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EEXIST") throw thrown;
    });
  }
}
