import type {
  Directory,
  DirectoryEntry,
  EntryFacts,
  EntryHandle,
  NewFile,
  OpenFile,
  RootDirectory,
} from "../host/files/directory.ts";
import { assertComponent, SystemError } from "../host/files/system-error.ts";
import type { AppendFile } from "../host/host.ts";
import { appendTo } from "./memory-files.ts";
import type { MemoryFile, MemoryFolder, MemoryNode, MemoryTree } from "./memory-tree.ts";

export function openMemoryRoot(tree: MemoryTree, path: string): RootDirectory {
  tree.check("openRoot", path);
  const { node, realPath } = tree.find(path);
  if (node.kind !== "directory") throw new SystemError("ENOTDIR");
  return new MemoryDirectory(tree, node, realPath);
}

/** Holds the node itself, as a descriptor does: it stays this directory when it is moved. */
class MemoryDirectory implements Directory {
  readonly identity: string;
  readonly realPath: string;
  readonly #tree: MemoryTree;
  readonly #folder: MemoryFolder;

  constructor(tree: MemoryTree, folder: MemoryFolder, realPath: string) {
    this.#tree = tree;
    this.#folder = folder;
    this.realPath = realPath;
    this.identity = tree.facts(folder).identity;
  }

  async isInPlace(): Promise<boolean> {
    try {
      return this.#tree.find(this.realPath).node === this.#folder;
    } catch {
      return false;
    }
  }

  async look(name: string): Promise<EntryFacts | undefined> {
    const node = this.#find("look", name);
    return node === undefined ? undefined : this.#tree.facts(node);
  }

  async openDirectory(name: string): Promise<Directory> {
    const node = this.#existing("openDirectory", name);
    if (node.kind === "link") throw new SystemError("ELOOP");
    if (node.kind !== "directory") throw new SystemError("ENOTDIR");
    return new MemoryDirectory(this.#tree, node, this.#path(name));
  }

  async openFile(name: string): Promise<OpenFile> {
    const node = this.#existing("openFile", name);
    if (node.kind === "link") throw new SystemError("ELOOP");
    if (node.kind === "directory") throw new SystemError("EISDIR");
    if (node.kind === "other") throw new SystemError("ENXIO");
    return {
      facts: this.#tree.facts(node),
      read: async (limit, from = 0) => node.bytes.slice(from, from + limit),
      close: async () => {},
    };
  }

  async entries(): Promise<readonly DirectoryEntry[]> {
    this.#tree.check("entries", this.realPath);
    return [...this.#folder.children].map(([name, node]) => ({ name, type: node.kind }));
  }

  async makeDirectory(name: string): Promise<void> {
    if (this.#find("makeDirectory", name) !== undefined) throw new SystemError("EEXIST");
    this.#folder.children.set(name, this.#tree.createFolder());
  }

  async createFile(name: string, mode: number): Promise<NewFile> {
    if (this.#find("createFile", name) !== undefined) throw new SystemError("EEXIST");
    const file = this.#tree.createFile(new Uint8Array(), mode & 0o755);
    this.#folder.children.set(name, file);
    return this.#toNewFile(file, this.#path(name));
  }

  async openAppend(name: string, mode: number | undefined): Promise<AppendFile> {
    const present = this.#find("openAppend", name);
    if (!present && mode === undefined) throw new SystemError("ENOENT");
    if (present?.kind === "link") throw new SystemError("ELOOP");
    if (present && present.kind !== "file") throw new SystemError(present.kind === "directory" ? "EISDIR" : "ENXIO");
    const file = present ?? this.#tree.createFile(new Uint8Array(), (mode ?? 0) & 0o755);
    this.#folder.children.set(name, file);
    return appendTo(this.#tree, this.#path(name), file);
  }

  async createLink(name: string, target: string): Promise<void> {
    if (this.#find("createLink", name) !== undefined) throw new SystemError("EEXIST");
    this.#folder.children.set(name, this.#tree.createLink(target));
  }

  async readLink(name: string): Promise<string> {
    const node = this.#existing("readLink", name);
    if (node.kind !== "link") throw new SystemError("EINVAL");
    return node.target;
  }

  async rename(from: string, to: string): Promise<void> {
    const node = this.#existing("rename", from);
    assertComponent(to);
    if (this.#folder.children.get(to)?.kind === "directory") throw new SystemError("EISDIR");
    this.#folder.children.delete(from);
    this.#folder.children.set(to, node);
  }

  async removeFile(name: string): Promise<void> {
    if (this.#existing("removeFile", name).kind === "directory") throw new SystemError("EISDIR");
    this.#folder.children.delete(name);
  }

  async removeDirectory(name: string): Promise<void> {
    const node = this.#existing("removeDirectory", name);
    if (node.kind !== "directory") throw new SystemError("ENOTDIR");
    if (node.children.size > 0) throw new SystemError("ENOTEMPTY");
    this.#folder.children.delete(name);
  }

  async facts(): Promise<EntryFacts> {
    return this.#tree.facts(this.#folder);
  }

  async setMode(): Promise<void> {}
  async setOwner(): Promise<void> {}

  async openHandle(name: string): Promise<EntryHandle> {
    if (name !== ".") this.#existing("openHandle", name);
    return { path: name === "." ? this.realPath : this.#path(name), descriptor: undefined, close: async () => {} };
  }

  async sync(): Promise<void> {}
  async unlock(): Promise<void> {}
  async close(): Promise<void> {}

  #toNewFile(file: MemoryFile, path: string): NewFile {
    const tree = this.#tree;
    return {
      write: async (bytes) => {
        tree.check("write", path);
        file.bytes = Uint8Array.from(bytes);
        tree.touch(file);
      },
      setMode: async (mode) => {
        file.mode = mode;
      },
      setOwner: async () => {},
      sync: async () => tree.check("sync", path),
      close: async () => {},
    };
  }

  #find(operation: string, name: string): MemoryNode | undefined {
    assertComponent(name);
    this.#tree.check(operation, this.#path(name));
    return this.#folder.children.get(name);
  }

  #existing(operation: string, name: string): MemoryNode {
    const node = this.#find(operation, name);
    if (node === undefined) throw new SystemError("ENOENT");
    return node;
  }

  #path(name: string): string {
    return this.realPath === "/" ? `/${name}` : `${this.realPath}/${name}`;
  }
}
