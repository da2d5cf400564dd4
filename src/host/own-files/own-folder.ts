import { formatCount } from "../../util/text/format-count.ts";
import type { Directory, DirectoryEntry, EntryFacts } from "../files/directory.ts";
import { makeFolder, makeFolders } from "../files/make-folders.ts";
import { removeLeftOvers, replaceFile } from "../files/replace-file.ts";
import { errorCode, SystemError } from "../files/system-error.ts";
import { lockForWriting } from "../files/write-lock.ts";
import type { AppendFile, FileEnds } from "../host.ts";
import type { ScopeSystem } from "../scopes/open-scopes.ts";
import { closing } from "../scopes/scope-walk.ts";
import { maxReadBytes } from "../scopes/scopes.ts";

/**
 * A folder that llm-do keeps for itself, held open. What lies in it is reached through it: each name is one component, no link is
 * followed, and only regular files are opened or replaced. Failures carry the system's code: `ENOENT`, `ELOOP` (a link), `ENXIO` (a pipe, a
 * device), `EFBIG`, …
 */
export interface OwnFolder {
  /** Host path without links: for messages. */
  readonly path: string;
  /** Present if its mode let others in and was set right: a sentence for the user. */
  readonly note?: string;
  read(name: string, maxBytes?: number): Promise<Uint8Array>;
  /** Reads at most `bytes` at each end of a file. Above `maxReadBytes` it fails for a larger file. */
  readEnds(name: string, bytes: number): Promise<FileEnds>;
  /** Creates the file where it is missing. */
  openAppend(name: string): Promise<AppendFile>;
  /** Whole or not at all, as `HostFiles.writeAtomically`. */
  write(name: string, content: Uint8Array | string): Promise<void>;
  /** In no particular order. */
  entries(): Promise<readonly DirectoryEntry[]>;
  has(name: string): Promise<boolean>;
  /** Opens a folder in it; the caller closes it. `make`: creates it where it is missing, as this one is owned. */
  open(name: string, options?: { readonly make: boolean }): Promise<OwnFolder>;
  /** Creates a folder in it. Rejects with `EEXIST`. */
  create(name: string): Promise<OwnFolder>;
  /** A file, a link, or a folder with all that it holds; nothing there is fine. */
  remove(name: string): Promise<void>;
  /** Gives an entry another name. Rejects with `EEXIST` if that is taken. */
  rename(from: string, to: string): Promise<void>;
  /** Runs a function while no other one, in this process or another, runs for the same name. */
  alone<T>(name: string, fn: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface OwnFolderOptions {
  /** Creates what is missing on the way, for its owner alone. Default: rejects with `ENOENT`. */
  readonly make?: boolean;
  /**
   * True: others may have rights. What is made in it gets its owner, group and mode, and one that everybody may write is refused. Default:
   * a folder of another owner is refused, and the mode is set right.
   */
  readonly isShared?: boolean;
}

/** The owner and mode of what is made in a folder. */
type Ownership = Pick<EntryFacts, "user" | "group" | "mode">;

/** Rejects with `EPERM` for a folder that others could change. */
export async function openOwnFolder(
  system: ScopeSystem,
  path: string,
  { make = false, isShared = false }: OwnFolderOptions = {},
): Promise<OwnFolder> {
  const root = await system.openRoot(path).catch(async (error: unknown) => {
    if (!make || errorCode(error) !== "ENOENT") throw error;
    await makeFolders(system, path, 0o700);
    return system.openRoot(path);
  });
  try {
    if (isShared) {
      const facts = await refuseOpen(system, root, root.realPath);
      return new SystemFolder(system, { directory: root, path: root.realPath, like: { ...facts, mode: facts.mode & 0o770 } });
    }
    const note = await claim(system, root, root.realPath);
    return new SystemFolder(system, { directory: root, path: root.realPath, ...(note === undefined ? {} : { note }) });
  } catch (error) {
    await root.close();
    throw error;
  }
}

/** Rejects with `EPERM` for a folder that everybody may write. */
async function refuseOpen({ user }: ScopeSystem, directory: Directory, path: string): Promise<EntryFacts> {
  const facts = await directory.facts();
  if (facts.mode & 0o002 && user !== undefined)
    throw new SystemError("EPERM", `everybody may write to ${path}: take that right away with \`chmod o-w\``);
  return facts;
}

/** Takes the rights of others away. Returns a note where there were some. Does nothing where the system has no users or modes. */
async function claim({ user }: ScopeSystem, directory: Directory, path: string): Promise<string | undefined> {
  if (user === undefined) return undefined;
  const facts = await directory.facts();
  if (facts.user !== user) throw new SystemError("EPERM", `${path} belongs to another user`);
  if ((facts.mode & 0o077) === 0) return undefined;
  await directory.setMode(0o700).catch(() => undefined);
  // A file system without modes shows the old one.
  if (((await directory.facts()).mode & 0o077) !== 0) return undefined;
  return `${path} was open to others (mode ${facts.mode.toString(8)}), and is now open to you alone`;
}

interface OpenedFolder {
  readonly directory: Directory;
  readonly path: string;
  readonly note?: string;
  /** Absent: what is made is for its owner alone. */
  readonly like?: Ownership;
}

class SystemFolder implements OwnFolder {
  readonly path: string;
  readonly note?: string;
  readonly #system: ScopeSystem;
  readonly #directory: Directory;
  readonly #like: Ownership | undefined;

  constructor(system: ScopeSystem, { directory, path, note, like }: OpenedFolder) {
    this.#system = system;
    this.#directory = directory;
    this.path = path;
    this.#like = like;
    if (note !== undefined) this.note = note;
  }

  async read(name: string, maxBytes = maxReadBytes): Promise<Uint8Array> {
    return closing(await this.#directory.openFile(name), async (file) => {
      if (file.facts.bytes > maxBytes) throw tooLarge(maxBytes);
      const bytes = await file.read(maxBytes + 1);
      if (bytes.length > maxBytes) throw tooLarge(maxBytes);
      return bytes;
    });
  }

  async readEnds(name: string, bytes: number): Promise<FileEnds> {
    return closing(await this.#directory.openFile(name), async ({ facts, read }) => {
      if (bytes > maxReadBytes && facts.bytes > maxReadBytes) throw tooLarge(maxReadBytes);
      const start = await read(bytes);
      const end = facts.bytes <= bytes ? start : await read(bytes, facts.bytes - bytes);
      return { start, end, bytes: facts.bytes };
    });
  }

  async openAppend(name: string): Promise<AppendFile> {
    const like = this.#like;
    const file = await this.#directory.openAppend(name, like ? undefined : 0o600).catch(async (error: unknown) => {
      if (!like || errorCode(error) !== "ENOENT") throw error;
      const made = await this.#directory.createFile(name, 0o600);
      await closing(made, () => this.#own(made, like));
      return this.#directory.openAppend(name, undefined);
    });
    return file;
  }

  async write(name: string, content: Uint8Array | string): Promise<void> {
    const { writer } = this.#system;
    const present = await this.#directory.look(name);
    if (present && present.type !== "file") throw new SystemError(present.type === "link" ? "ELOOP" : "ENXIO");
    await removeLeftOvers(this.#directory, writer);
    const like = this.#like && { ...this.#like, mode: this.#like.mode & 0o666 };
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    await replaceFile(this.#directory, name, { bytes, writer, like, mode: 0o600 });
  }

  entries(): Promise<readonly DirectoryEntry[]> {
    return this.#directory.entries();
  }

  async has(name: string): Promise<boolean> {
    return (await this.#directory.look(name)) !== undefined;
  }

  async open(name: string, { make } = { make: false }): Promise<OwnFolder> {
    try {
      const directory = await this.#directory.openDirectory(name);
      try {
        if (this.#like) await refuseOpen(this.#system, directory, `${this.path}/${name}`);
        return this.#below(name, directory);
      } catch (error) {
        await directory.close();
        throw error;
      }
    } catch (error) {
      if (!make || errorCode(error) !== "ENOENT") throw error;
      await makeFolder(this.#directory, name, { writer: this.#system.writer, mode: 0o700 });
      return this.#below(name, await this.#owned(name));
    }
  }

  async create(name: string): Promise<OwnFolder> {
    await this.#directory.makeDirectory(name, 0o700);
    return this.#below(name, await this.#owned(name));
  }

  async #owned(name: string): Promise<Directory> {
    const made = await this.#directory.openDirectory(name);
    if (this.#like) await this.#own(made, this.#like).catch(() => undefined);
    return made;
  }

  async #own(made: Pick<Directory, "setMode" | "setOwner">, { user, group, mode }: Ownership): Promise<void> {
    await made.setOwner(user, group).catch(() => undefined);
    await made.setMode("openDirectory" in made ? mode : mode & 0o666);
  }

  #below(name: string, directory: Directory): OwnFolder {
    const like = this.#like;
    return new SystemFolder(this.#system, { directory, path: `${this.path}/${name}`, ...(like ? { like } : {}) });
  }

  async remove(name: string): Promise<void> {
    const facts = await this.#directory.look(name);
    if (facts) await removeEntry(this.#directory, { name, type: facts.type });
  }

  async rename(from: string, to: string): Promise<void> {
    if (await this.has(to)) throw new SystemError("EEXIST");
    await this.#directory.rename(from, to);
    await this.#directory.sync();
  }

  alone<T>(name: string, fn: () => Promise<T>): Promise<T> {
    return lockForWriting({ directory: this.#directory, name, writer: this.#system.writer }, fn);
  }

  close(): Promise<void> {
    return this.#directory.close();
  }
}

function tooLarge(bytes: number): SystemError {
  return new SystemError("EFBIG", `this is larger than ${formatCount(bytes)} bytes`);
}

async function removeEntry(above: Directory, { name, type }: DirectoryEntry): Promise<void> {
  if (type !== "directory") return above.removeFile(name);
  await closing(await above.openDirectory(name), async (folder) => {
    for (const entry of await folder.entries()) await removeEntry(folder, entry);
  });
  await above.removeDirectory(name);
}
