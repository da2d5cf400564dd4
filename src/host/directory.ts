/** What stands behind a name, never following a link. */
export type EntryType = "file" | "directory" | "link" | "other";

export interface DirectoryEntry {
  readonly name: string;
  readonly type: EntryType;
}

export interface EntryFacts {
  readonly type: EntryType;
  /** Tells one file or directory from another while both exist (device and inode). */
  readonly identity: string;
  /** Changes with the content too, and when an inode number is used again. */
  readonly version: string;
  readonly bytes: number;
  /** Permission bits alone. */
  readonly mode: number;
  readonly modifiedMilliseconds: number;
  readonly user: number;
  readonly group: number;
}

/**
 * An open directory: the only thing that file access goes through. Every name is one component (no `/`, no `..`) and is
 * looked up in this very directory, wherever it may have been moved to; no link is ever followed. Failures carry the
 * system's code: `ENOENT`, `ELOOP` (a link), `ENOTDIR`, `EISDIR`, `EEXIST`, `ENOSPC`, …
 */
export interface Directory {
  readonly identity: string;
  /** `undefined` where there is nothing of that name. */
  look(name: string): Promise<EntryFacts | undefined>;
  openDirectory(name: string): Promise<Directory>;
  /** A regular file, for reading. Never waits for the other end of a pipe: what is no regular file is `ENXIO`. */
  openFile(name: string): Promise<OpenFile>;
  /** In no particular order. */
  entries(): Promise<readonly DirectoryEntry[]>;
  /** `mode` is subject to the process's mask; default 0o777. */
  makeDirectory(name: string, mode?: number): Promise<void>;
  /** A file that was not there before: otherwise `EEXIST`. `mode` is subject to the process's mask. */
  createFile(name: string, mode: number): Promise<NewFile>;
  /** A link that was not there before (otherwise `EEXIST`), and that leads nowhere: its target is a text to keep. */
  createLink(name: string, target: string): Promise<void>;
  readLink(name: string): Promise<string>;
  /** Replaces `to`. Both names are of this directory. */
  rename(from: string, to: string): Promise<void>;
  removeFile(name: string): Promise<void>;
  /** Puts created and renamed names on disk; silently does nothing where the system cannot. */
  sync(): Promise<void>;
  /** Opens an entry, or the directory itself (`.`), for a child process. The caller closes it. */
  openHandle(name: string): Promise<EntryHandle>;
  /** Lets its owner list and change a directory of this name again (`.`: itself), whatever its mode forbade. */
  unlock(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Keeps a file or directory for a child process, wherever it is moved to. */
export interface EntryHandle {
  /** Leads there for this process and, until they execute, for its children. */
  readonly path: string;
  /** Undefined where the system has no descriptors of directories, or none that could be handed on. */
  readonly descriptor: number | undefined;
  close(): Promise<void>;
}

export interface OpenFile {
  readonly facts: EntryFacts;
  /** Reads at most `limit` bytes, however the file grows meanwhile. `from`: where it begins, in bytes; default 0. */
  read(limit: number, from?: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface NewFile {
  write(bytes: Uint8Array): Promise<void>;
  setMode(mode: number): Promise<void>;
  setOwner(user: number, group: number): Promise<void>;
  /** Resolves when the content is on disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A directory opened by its host path: where confinement begins. Links on the way to it are resolved once, here. */
export interface RootDirectory extends Directory {
  /** Host path without links. For comparisons alone; it never reaches a message. */
  readonly realPath: string;
  /** Whether that path still leads to this very directory. */
  isInPlace(): Promise<boolean>;
}
