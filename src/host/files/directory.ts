import type { AppendFile } from "../host.ts";

/** The type of an entry; a link is not followed. */
export type EntryType = "file" | "directory" | "link" | "other";

export interface DirectoryEntry {
  readonly name: string;
  readonly type: EntryType;
}

export interface EntryFacts {
  readonly type: EntryType;
  /** Device and inode: distinguishes entries that exist at the same time. */
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
  /** Undefined if the name does not exist. */
  look(name: string): Promise<EntryFacts | undefined>;
  openDirectory(name: string): Promise<Directory>;
  /** Opens a regular file for reading; anything else is `ENXIO`. Never waits for the other end of a pipe. */
  openFile(name: string): Promise<OpenFile>;
  /**
   * Runs a function with a path that leads to this directory in every thread of this process, for as long as the function runs.
   * Absent: there is none.
   */
  withPath?<T>(use: (path: string) => Promise<T>): Promise<T>;
  /** In no particular order. */
  entries(): Promise<readonly DirectoryEntry[]>;
  /** `mode` is subject to the process's mask; default 0o777. */
  makeDirectory(name: string, mode?: number): Promise<void>;
  /** Creates a file. Rejects with `EEXIST` if the name exists. `mode` is subject to the process's mask. */
  createFile(name: string, mode: number): Promise<NewFile>;
  /** Opens a regular file for appending; anything else is refused as by `openFile`. With a `mode`, a missing one is created. */
  openAppend(name: string, mode: number | undefined): Promise<AppendFile>;
  /** Creates a link whose target is a text, not a path. Rejects with `EEXIST` if the name exists. */
  createLink(name: string, target: string): Promise<void>;
  readLink(name: string): Promise<string>;
  /** Replaces `to`. Both names are of this directory. */
  rename(from: string, to: string): Promise<void>;
  removeFile(name: string): Promise<void>;
  /** Removes an empty folder. */
  removeDirectory(name: string): Promise<void>;
  /** Facts of this directory itself. */
  facts(): Promise<EntryFacts>;
  setMode(mode: number): Promise<void>;
  setOwner(user: number, group: number): Promise<void>;
  /** Puts created and renamed names on disk; silently does nothing where the system cannot. */
  sync(): Promise<void>;
  /** Opens an entry, or the directory itself (`.`), for a child process. The caller closes it. */
  openHandle(name: string): Promise<EntryHandle>;
  /** Gives its owner all rights to a directory of this name (`.`: itself) again. */
  unlock(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Keeps a file or directory for a child process, wherever it is moved to. */
export interface EntryHandle {
  /** Leads there for this process and, until they execute, for its children. */
  readonly path: string;
  /** Undefined if the system has no descriptors of directories, or none that could be handed on. */
  readonly descriptor: number | undefined;
  close(): Promise<void>;
}

export interface OpenFile {
  readonly facts: EntryFacts;
  /** Reads at most `limit` bytes, even if the file grows meanwhile. `from`: the offset in bytes; default 0. */
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

/** A directory opened by its host path. Links on the way are resolved once. */
export interface RootDirectory extends Directory {
  /** Host path without links. For comparisons alone; it never reaches a message. */
  readonly realPath: string;
  /** Returns whether that path still leads to this very directory. */
  isInPlace(): Promise<boolean>;
}
