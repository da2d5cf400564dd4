import { dirname } from "node:path";

/** One piece of a command's view of the machine; the rest does not exist there. Paths are absolute host paths. */
export type Mount =
  /** A file or folder of the host; by descriptor, whatever its path leads to, where there is one. */
  | {
      readonly kind: "read-only" | "writable";
      readonly path: string;
      readonly source: string;
      readonly descriptor?: number;
      /** A writable one of which nothing remains; only where there are layers. */
      readonly isLayer?: boolean;
      /** The files of a read-only mount that may be copied instead. */
      readonly copies?: readonly Copy[] | undefined;
    }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  /** A private folder that is gone afterwards. */
  | { readonly kind: "empty"; readonly path: string }
  /** A read-only file with another content. */
  | { readonly kind: "content"; readonly path: string; readonly content: string }
  /** Nothing can be read from it or written to it. */
  | { readonly kind: "hidden-file" | "hidden-folder"; readonly path: string };

export function isLayer(mount: Mount): boolean {
  return mount.kind === "writable" && mount.isLayer === true;
}

/** A file that stands in the view as a copy: its path, there and on the host, and its mode. */
export interface Copy {
  readonly path: string;
  readonly mode: number;
  /** Another one when the file may have changed. */
  readonly version: string;
}

/** The deepest mount decides about a path; of two at one path, the later. */
export function orderMounts(mounts: readonly Mount[]): readonly Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) byPath.set(mount.path, mount);
  const depths = [...byPath.values()].map((mount) => ({ mount, depth: foldersAbove(mount.path).length }));
  return depths.sort((a, b) => a.depth - b.depth).map(({ mount }) => mount);
}

/** Returns the function that finds the deepest mount around a path, other than one at the path itself. */
export function enclosing(mounts: readonly Mount[]): (path: string) => Mount | undefined {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  return (path) => {
    const folder = foldersAbove(path).find((above) => byPath.has(above));
    return folder === undefined ? undefined : byPath.get(folder);
  };
}

/** The folders that a path lies in, the deepest first. */
export function foldersAbove(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path, above = dirname(at); above !== at; at = above, above = dirname(at)) folders.push(above);
  return folders;
}
