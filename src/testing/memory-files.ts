import { alone, assertSize, confinedPath, makeOwnDirectory, writeAtomically } from "../host/files/node-files.ts";
import { SystemError } from "../host/files/system-error.ts";
import type { AppendFile, HostFiles, ReadOptions } from "../host/host.ts";
import { openOwnFolder } from "../host/own-files/own-folder.ts";
import type { ScopeSystem } from "../host/scopes/open-scopes.ts";
import { maxReadBytes } from "../host/scopes/scopes.ts";
import type { MemoryFile, MemoryNode, MemoryTree } from "./memory-tree.ts";

export function createMemoryFiles(tree: MemoryTree, system: ScopeSystem): HostFiles {
  return {
    readText: async (path, options) =>
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readBytes({ tree, system, path, ...options })),
    readBytes: (path, options) => readBytes({ tree, system, path, ...options }),
    readEnds: async (path, { bytes: most, within }) => {
      const bytes = await readBytes({
        ...{ tree, system, path },
        maxBytes: most > maxReadBytes ? maxReadBytes : Number.MAX_SAFE_INTEGER,
        ...(within === undefined ? {} : { within }),
      });
      return { start: bytes.slice(0, most), end: bytes.slice(Math.max(bytes.length - most, 0)), bytes: bytes.length };
    },
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
    makeOwnDirectory: async (root, names, mode) => {
      tree.check("makeDirectory", [root, ...names].join("/"));
      await makeOwnDirectory(system, { root, names, mode });
    },
    writeAtomically: (path, bytes, mode) => writeAtomically(system, { path, bytes, mode }),
    alone: (path, fn) => alone(system, path, fn),
    openOwn: (path, options) => openOwnFolder(system, path, options),
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

interface Reading extends ReadOptions {
  readonly tree: MemoryTree;
  readonly system: ScopeSystem;
  readonly path: string;
}

async function readBytes({ tree, system, path, maxBytes = maxReadBytes, within }: Reading): Promise<Uint8Array> {
  tree.check("read", path);
  if (within !== undefined) await confinedPath(system, path, within);
  const { node } = tree.find(path);
  if (node.kind === "directory") throw new SystemError("EISDIR");
  if (node.kind !== "file") throw new SystemError("ENXIO");
  assertSize(node.bytes.length, maxBytes);
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

/** Used by the memory directory, too. */
export function appendTo(tree: MemoryTree, path: string, file: MemoryFile): AppendFile {
  let isClosed = false;
  // Grows in steps: a long journal would otherwise be copied for each of its lines.
  let space = new Uint8Array();
  return {
    append: (text) => {
      if (isClosed) throw new Error("the file is closed");
      tree.check("append", path);
      const added = Buffer.from(text);
      const used = file.bytes.length;
      if (file.bytes.buffer !== space.buffer || used + added.length > space.length) {
        space = new Uint8Array(2 * (used + added.length));
        space.set(file.bytes);
      }
      space.set(added, used);
      file.bytes = space.subarray(0, used + added.length);
      tree.touch(file);
    },
    size: () => (findOrNothing(tree, path) === file ? file.bytes.length : undefined),
    sync: async () => tree.check("sync", path),
    close: async () => {
      isClosed = true;
    },
  };
}
