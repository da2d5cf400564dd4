import type { AppendFile, HostFiles } from "./host.ts";
import type { MemoryFile, MemoryNode, MemoryTree } from "./memory-tree.ts";
import { writeAtomically } from "./node-files.ts";
import type { ScopeSystem } from "./open-scopes.ts";
import { SystemError } from "./system-error.ts";

export function createMemoryFiles(tree: MemoryTree, system: ScopeSystem): HostFiles {
  return {
    readText: async (path) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(readBytes(tree, path)),
    readBytes: async (path) => readBytes(tree, path),
    kind: async (path) => kindOf(findOrNothing(tree, path)),
    names: async (path) => {
      tree.check("names", path);
      const node = findOrNothing(tree, path);
      return node?.kind === "directory" ? [...node.children.keys()].sort() : [];
    },
    realPath: async (path) => tree.find(path).realPath,
    makeDirectory: async (path) => {
      tree.check("makeDirectory", path);
      tree.makeFolder(path);
    },
    writeAtomically: (path, bytes, mode) => writeAtomically(system, { path, bytes, mode }),
    openAppend: async (path, mode) => openAppend(tree, path, mode ?? 0o666),
    remove: async (path) => {
      tree.check("remove", path);
      try {
        const { folder, name } = tree.findParent(path);
        folder.children.delete(name);
      } catch {
        // Nothing there is fine.
      }
    },
  };
}

function readBytes(tree: MemoryTree, path: string): Uint8Array {
  tree.check("read", path);
  const { node } = tree.find(path);
  if (node.kind === "directory") throw new SystemError("EISDIR");
  if (node.kind !== "file") throw new SystemError("EINVAL");
  return node.bytes.slice();
}

function findOrNothing(tree: MemoryTree, path: string): MemoryNode | undefined {
  try {
    return tree.find(path).node;
  } catch {
    return undefined;
  }
}

function kindOf(node: MemoryNode | undefined): "file" | "directory" | "other" | undefined {
  return node?.kind === "link" ? "other" : node?.kind;
}

function openAppend(tree: MemoryTree, path: string, mode: number): AppendFile {
  tree.check("openAppend", path);
  const file = appendTarget(tree, path, mode);
  let isClosed = false;
  return {
    append: (text) => {
      if (isClosed) throw new Error("the file is closed");
      tree.check("append", path);
      file.bytes = Buffer.concat([file.bytes, Buffer.from(text)]);
      tree.touch(file);
    },
    sync: async () => tree.check("sync", path),
    close: async () => {
      isClosed = true;
    },
  };
}

function appendTarget(tree: MemoryTree, path: string, mode: number): MemoryFile {
  const present = findOrNothing(tree, path);
  if (present?.kind === "file") return present;
  if (present !== undefined) throw new SystemError("EISDIR");
  const { folder, name } = tree.findParent(path);
  const file = tree.createFile(new Uint8Array(), mode & 0o755);
  folder.children.set(name, file);
  return file;
}
