import { chmodSync, chownSync, constants, lstatSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Directory, EntryFacts, EntryHandle, OpenFile } from "./directory.ts";
import { Descriptor, sync, toFacts } from "./node-entry.ts";
import { noFollow } from "./read-flags.ts";
import { SystemDirectory, type Undo } from "./system-directory.ts";
import { assertComponent, SystemError } from "./system-error.ts";
import { type SystemPath, toPathText, toSystemPath } from "./system-path.ts";

interface Ancestor {
  readonly path: string;
  readonly identity: string;
}

/**
 * A directory where the system has no paths through descriptors (macOS, Windows, Linux without `/proc`). It remembers the
 * identity of every directory from the root down, and compares them before and after each operation; a result from between is
 * dropped if one has changed. Weaker than `NodeDirectory`: a process that swaps directories at exactly the right moments can make a
 * *creation* happen elsewhere before it is noticed.
 */
export class PathDirectory extends SystemDirectory {
  readonly #path: string;
  readonly #chain: readonly Ancestor[];

  private constructor(path: string, identity: string, above: readonly Ancestor[]) {
    super(identity);
    this.#path = path;
    this.#chain = [...above, { path, identity }];
  }

  /** `path` is used as it is: no link in its last component. */
  static open(path: string, above: readonly Ancestor[] = []): PathDirectory {
    const facts = toFacts(lstatSync(toSystemPath(path), { bigint: true }));
    if (facts.type === "link") throw new SystemError("ELOOP");
    if (facts.type !== "directory") throw new SystemError("ENOTDIR");
    return new PathDirectory(path, facts.identity, above);
  }

  /** Compares the opened file with what is there before: the directory can be swapped and swapped back in between. */
  override async openFile(name: string): Promise<OpenFile> {
    const facts = await this.look(name);
    const file = await super.openFile(name);
    if (file.facts.identity === facts?.identity) return file;
    await file.close();
    throw new SystemError("ESTALE");
  }

  openHandle(name: string): Promise<EntryHandle> {
    return this.use(name, () => ({ path: join(this.#path, name), descriptor: undefined, close: async () => {} }));
  }

  async unlock(name: string): Promise<void> {
    await this.use(name, (path) => {
      const facts = toFacts(lstatSync(path, { bigint: true }));
      if (facts.type === "directory") chmodSync(path, facts.mode | 0o700);
    });
  }

  facts(): Promise<EntryFacts> {
    return this.use(".", (path) => toFacts(lstatSync(path, { bigint: true })));
  }

  setMode(mode: number): Promise<void> {
    return this.use(".", (path) => chmodSync(path, mode));
  }

  setOwner(user: number, group: number): Promise<void> {
    return this.use(".", (path) => chownSync(path, user, group));
  }

  async sync(): Promise<void> {
    try {
      const descriptor = new Descriptor(openSync(toSystemPath(this.#path), constants.O_RDONLY | noFollow));
      await sync(descriptor.number).finally(() => descriptor.close());
    } catch {
      // Not every system can.
    }
  }

  async close(): Promise<void> {}

  protected openPath(path: SystemPath): Directory {
    return PathDirectory.open(typeof path === "string" ? path : toPathText(path), this.#chain);
  }

  protected async use<T>(name: string, operation: (path: SystemPath) => T | Promise<T>, undo?: Undo<T>): Promise<T> {
    if (name !== ".") assertComponent(name);
    const path = join(this.#path, name);
    this.#assertInPlace();
    const result = await operation(toSystemPath(path));
    try {
      this.#assertInPlace();
      return result;
    } catch (error) {
      await undo?.(result, toSystemPath(path));
      throw error;
    }
  }

  #assertInPlace(): void {
    for (const { path, identity } of this.#chain) {
      const facts = toFacts(lstatSync(path, { bigint: true }));
      if (facts.type !== "directory" || facts.identity !== identity) throw new SystemError("ESTALE");
    }
  }
}
