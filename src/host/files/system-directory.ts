import { constants, lstatSync, openSync, readlinkSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { sep } from "node:path";
import type { AppendFile } from "../host.ts";
import { openAppendFile } from "./append-file.ts";
import type { Directory, DirectoryEntry, EntryFacts, EntryHandle, NewFile, OpenFile } from "./directory.ts";
import { assertFile, toFacts, toNewFile, toOpenFile, typeOf } from "./node-entry.ts";
import { noFollow, readFlags } from "./read-flags.ts";
import { assertComponent } from "./system-error.ts";
import { listFolder, type SystemPath, toPathText, toSystemPath } from "./system-path.ts";

const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow;

/** Takes back what an operation made, where its path turns out to lead elsewhere. */
export type Undo<T> = (result: T, path: SystemPath) => Promise<unknown>;

/**
 * The operations on a directory, by paths. A subclass makes sure that these lead to this very directory. Looks take a few microseconds
 * and are made at once: a trip through the pool of threads takes ten times as long. So are files and links created and removed, which
 * are temporaries and locks. Other changes can wait for a disk that is busy.
 */
export abstract class SystemDirectory implements Directory {
  readonly identity: string;

  protected constructor(identity: string) {
    this.identity = identity;
  }

  /** Runs an operation with the path of a name in this directory, or of the directory itself (`.`). */
  protected abstract use<T>(name: string, operation: (path: SystemPath) => T | Promise<T>, undo?: Undo<T>): Promise<T>;
  protected abstract openPath(path: SystemPath): Directory;
  abstract openHandle(name: string): Promise<EntryHandle>;
  abstract unlock(name: string): Promise<void>;
  abstract sync(): Promise<void>;
  abstract close(): Promise<void>;
  abstract facts(): Promise<EntryFacts>;
  abstract setMode(mode: number): Promise<void>;
  abstract setOwner(user: number, group: number): Promise<void>;

  look(name: string): Promise<EntryFacts | undefined> {
    return this.use(name, findFacts);
  }

  openDirectory(name: string): Promise<Directory> {
    return this.use(name, (path) => this.openPath(path));
  }

  openFile(name: string): Promise<OpenFile> {
    const openPath = (path: SystemPath) => {
      // Checked before it is opened: opening a device can have effects (a tape rewinds).
      assertFile(findFacts(path));
      return toOpenFile(openSync(path, readFlags));
    };
    return this.use(name, openPath, (file) => file.close());
  }

  openAppend(name: string, mode: number | undefined): Promise<AppendFile> {
    const open = (path: SystemPath) => {
      const facts = findFacts(path);
      if (facts || mode === undefined) assertFile(facts);
      return openAppendFile(path, mode);
    };
    return this.use(name, open, (file) => file.close());
  }

  async entries(): Promise<readonly DirectoryEntry[]> {
    const entries = await this.use(".", (path) => listFolder(path));
    return entries.map((entry) => ({ name: entry.name, type: typeOf(entry) }));
  }

  withPath<T>(use: (path: string) => Promise<T>): Promise<T> {
    return this.use(".", (path) => use(path.toString()));
  }

  async makeDirectory(name: string, mode?: number): Promise<void> {
    await this.use(name, (path) => mkdir(path, mode));
  }

  createFile(name: string, mode: number): Promise<NewFile> {
    const create = (path: SystemPath) => toNewFile(openSync(path, createFlags, mode));
    return this.use(name, create, async (file, path) => {
      await file.close();
      try {
        unlinkSync(path);
      } catch {}
    });
  }

  createLink(name: string, target: string): Promise<void> {
    return this.use(name, (path) => symlinkSync(toSystemPath(target), path));
  }

  readLink(name: string): Promise<string> {
    return this.use(name, (path) => toPathText(readlinkSync(path, "buffer")));
  }

  async rename(from: string, to: string): Promise<void> {
    assertComponent(to);
    await this.use(from, (path) => {
      const text = typeof path === "string" ? path : toPathText(path);
      return rename(path, toSystemPath(text.slice(0, text.lastIndexOf(sep) + 1) + to));
    });
  }

  removeFile(name: string): Promise<void> {
    return this.use(name, (path) => unlinkSync(path));
  }

  removeDirectory(name: string): Promise<void> {
    return this.use(name, (path) => rmdirSync(path));
  }
}

function findFacts(path: SystemPath): EntryFacts | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && toFacts(stats);
}
