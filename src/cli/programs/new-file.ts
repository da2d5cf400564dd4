import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { UsageError } from "../exit-codes.ts";

/** A file that is written piece by piece, and is there whole or not at all. Disposing of it removes what was not put in its place. */
export interface NewFile extends AsyncDisposable {
  write(text: string): Promise<void>;
  /** Puts it in its place, on disk. Rejects with a `UsageError` if a new file is there meanwhile. */
  finish(): Promise<void>;
}

/** Begins a file that is not there yet, for its owner alone. */
export async function createNewFile(path: string): Promise<NewFile> {
  const whole = resolve(path);
  return begin(dirname(whole), 0o600, async (written) => {
    if (existsSync(whole)) throw new UsageError(`${path}: there is such a file`);
    await rename(written, whole);
  });
}

/** Begins what replaces a file, with the mode of that; a link stays one. */
export async function createReplacement(path: string): Promise<NewFile> {
  const whole = await realpath(path);
  const { mode } = await stat(whole);
  return begin(dirname(whole), mode & 0o777, (written) => rename(written, whole));
}

async function begin(folder: string, mode: number, place: (written: string) => Promise<void>): Promise<NewFile> {
  const { self, isRunning } = createNodeHost().processes;
  await removeLeftOvers(folder, isRunning);
  const written = join(folder, `.${self.replaceAll(" ", "_")}_${Date.now()}.jsonl.part`);
  const file = await open(written, "wx", mode);
  const pieces = batch(file);
  return {
    write: pieces.write,
    finish: async () => {
      await pieces.flush();
      await file.sync();
      await file.close();
      await place(written);
    },
    [Symbol.asyncDispose]: async () => {
      await file.close().catch(() => undefined);
      await rm(written, { force: true });
    },
  };
}

/** Removes what killed processes of this machine had begun in the folder. */
async function removeLeftOvers(folder: string, isRunning: (process: string) => boolean | undefined): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, process] = /^\.(.+)_\d+\.jsonl\.part$/.exec(name) ?? [];
    if (process !== undefined && isRunning(process.replaceAll("_", " ")) === false) await rm(join(folder, name), { force: true });
  }
}

/** Small pieces are written together. */
function batch(file: FileHandle) {
  let waiting: string[] = [];
  let length = 0;
  const flush = async () => {
    const text = waiting.join("");
    waiting = [];
    length = 0;
    await file.writeFile(text);
  };
  const write = async (text: string) => {
    waiting.push(text);
    length += text.length;
    if (length > 1_000_000) await flush();
  };
  return { write, flush };
}
