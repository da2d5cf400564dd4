import type { EntryFacts } from "../host/files/directory.ts";
import { SystemError } from "../host/files/system-error.ts";

export interface MemoryFile {
  readonly kind: "file";
  bytes: Uint8Array;
  mode: number;
  modified: number;
  version: number;
  readonly inode: number;
}

export interface MemoryFolder {
  readonly kind: "directory";
  readonly children: Map<string, MemoryNode>;
  readonly inode: number;
}

export type MemoryNode =
  | MemoryFile
  | MemoryFolder
  | { readonly kind: "link"; readonly target: string; readonly modified: number; readonly inode: number }
  | { readonly kind: "other"; readonly inode: number };

/** The content of a path: text, bytes, a link, a folder, or (`other`) a device. */
export type MemoryContent =
  | string
  | Uint8Array
  | { readonly link: string }
  | { readonly other: true }
  | { readonly folder: true };

/** Called before each operation; the operation fails with the code that it returns, such as `ENOSPC`. */
export type MemoryFaults = (operation: string, path: string) => string | undefined;

const maxLinks = 40;

/** A POSIX file tree in memory, case-sensitive, with links, inode numbers and planned failures. */
export class MemoryTree {
  readonly root: MemoryFolder;
  readonly now: () => number;
  faults: MemoryFaults = () => undefined;
  #inodes = 1;
  #versions = 0;

  constructor(now: () => number) {
    this.now = now;
    this.root = this.createFolder();
  }

  createFolder(): MemoryFolder {
    return { kind: "directory", children: new Map(), inode: this.#inodes++ };
  }

  createFile(bytes: Uint8Array, mode: number): MemoryFile {
    return { kind: "file", bytes, mode, modified: this.now(), version: ++this.#versions, inode: this.#inodes++ };
  }

  createLink(target: string): MemoryNode {
    return { kind: "link", target, modified: this.now(), inode: this.#inodes++ };
  }

  /** After a change of content. */
  touch(file: MemoryFile): void {
    file.modified = this.now();
    file.version = ++this.#versions;
  }

  check(operation: string, path: string): void {
    const code = this.faults(operation, path);
    if (code !== undefined) throw new SystemError(code);
  }

  facts(node: MemoryNode): EntryFacts {
    const identity = `memory:${node.inode}`;
    const file = node.kind === "file" ? node : undefined;
    return {
      type: node.kind,
      identity,
      version: `${identity}:${file?.version ?? 0}`,
      bytes: file?.bytes.length ?? 0,
      mode: file?.mode ?? 0o755,
      modifiedMilliseconds: "modified" in node ? node.modified : 0,
      user: 0,
      group: 0,
    };
  }

  /** Makes what is on the way. */
  put(path: string, content: MemoryContent): void {
    const { folder, name } = this.makeParent(path);
    folder.children.set(name, this.#toNode(content));
  }

  /** Follows links, the last component included; gives the path without them too. */
  find(path: string): { node: MemoryNode; realPath: string } {
    const names = splitPath(path);
    let trail: readonly { name: string; node: MemoryNode }[] = [];
    for (let links = 0, name = names.shift(); name !== undefined; name = names.shift()) {
      const folder = trail.at(-1)?.node ?? this.root;
      if (folder.kind !== "directory") throw new SystemError("ENOTDIR");
      if (name === "..") {
        trail = trail.slice(0, -1);
        continue;
      }
      const node = folder.children.get(name);
      if (node === undefined) throw new SystemError("ENOENT");
      if (node.kind === "link") {
        if (++links > maxLinks) throw new SystemError("ELOOP");
        names.unshift(...splitPath(node.target));
        if (node.target.startsWith("/")) trail = [];
      } else trail = [...trail, { name, node }];
    }
    return { node: trail.at(-1)?.node ?? this.root, realPath: `/${trail.map((step) => step.name).join("/")}` };
  }

  /** Follows links in all but the last component. */
  findParent(path: string): { folder: MemoryFolder; name: string } {
    const names = splitPath(path);
    const name = names.pop();
    if (name === undefined || name === "..") throw new SystemError("EINVAL");
    const { node } = this.find(`/${names.join("/")}`);
    if (node.kind !== "directory") throw new SystemError("ENOTDIR");
    return { folder: node, name };
  }

  makeParent(path: string): { folder: MemoryFolder; name: string } {
    const names = splitPath(path);
    this.makeFolder(`/${names.slice(0, -1).join("/")}`);
    return this.findParent(path);
  }

  makeFolder(path: string): void {
    let folder: MemoryFolder = this.root;
    for (const name of splitPath(path)) {
      const present = folder.children.get(name);
      const node = present?.kind === "link" ? this.find(present.target).node : present;
      if (node !== undefined && node.kind !== "directory") throw new SystemError(node === present ? "EEXIST" : "ENOTDIR");
      const next = node ?? this.createFolder();
      if (node === undefined) folder.children.set(name, next);
      folder = next;
    }
  }

  #toNode(content: MemoryContent): MemoryNode {
    if (typeof content === "string") return this.createFile(new TextEncoder().encode(content), 0o644);
    if (content instanceof Uint8Array) return this.createFile(content, 0o644);
    if ("link" in content) return this.createLink(content.link);
    return "folder" in content ? this.createFolder() : { kind: "other", inode: this.#inodes++ };
  }
}

function splitPath(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}
