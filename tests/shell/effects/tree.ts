import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

interface Entry {
  readonly type: "file" | "folder" | "link" | "other";
  readonly mode: number;
  /** Another one after every change, of times and rights too. A folder has its identity alone: its entries are compared. */
  readonly version: string;
  /** The content of a file, the target of a link. */
  readonly content: Buffer | string | undefined;
}

/** Entries by their paths below the root. */
export type Tree = ReadonlyMap<string, Entry>;

/** The product's own copies of settings, which are written for each command. */
const copies = "home/.local/state/llm-do/private";

/** Reads no contents where `former` knows them. */
export function readTree(root: string, former: Tree = new Map()): Tree {
  const tree = new Map<string, Entry>();
  const visit = (folder: string) => {
    for (const name of readdirSync(join(root, folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (path === copies) continue;
      const entry = readEntry(join(root, path), former.get(path));
      tree.set(path, entry);
      if (entry.type === "folder") visit(path);
    }
  };
  visit("");
  return tree;
}

function readEntry(path: string, former: Entry | undefined): Entry {
  const facts = lstatSync(path, { bigint: true });
  const mode = Number(facts.mode & 0o7777n);
  if (facts.isDirectory()) return { type: "folder", mode, version: `${facts.ino}`, content: undefined };
  const version = `${facts.ino} ${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}`;
  if (facts.isSymbolicLink()) return { type: "link", mode, version, content: readlinkSync(path) };
  if (!facts.isFile()) return { type: "other", mode, version: `${facts.ino}`, content: undefined };
  const content = former?.version === version ? former.content : facts.size < 1_000_000n ? readFileSync(path) : "large";
  return { type: "file", mode, version, content };
}

/** Paths that were added, removed or changed. */
export function changesBetween(before: Tree, after: Tree): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => {
    const [a, b] = [before.get(path), after.get(path)];
    return a?.type !== b?.type || a?.mode !== b?.mode || a?.version !== b?.version;
  });
}

/** Makes the changed paths what they were. Returns the tree as it is then. */
export function restoreTree(root: string, before: Tree, changed: readonly string[]): Tree {
  for (const path of changed.toReversed()) {
    const was = before.get(path);
    if (was?.type !== "folder") rmSync(join(root, path), { recursive: true, force: true });
  }
  for (const path of [...changed].sort()) restore(join(root, path), before.get(path));
  return readTree(root, before);
}

function restore(path: string, was: Entry | undefined): void {
  if (was === undefined) return;
  if (was.type === "folder") mkdirSync(path, { recursive: true });
  else if (was.type === "link") symlinkSync(String(was.content), path);
  else if (was.type === "file") writeFileSync(path, was.content ?? "");
  else throw new Error(`${path} was changed, and cannot be made anew`);
  if (was.type !== "link") chmodSync(path, was.mode);
}
