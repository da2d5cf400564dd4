import { sep } from "node:path";

/** One piece of what a command sees of the machine: everything else is not there. Paths are absolute host paths. */
export type Mount =
  /** The host's file or folder. By descriptor where there is one: then it is this very one, whatever its path leads to. */
  | { readonly kind: "read-only" | "writable"; readonly path: string; readonly source: string; readonly descriptor?: number }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  /** A private folder that is gone afterwards. */
  | { readonly kind: "empty"; readonly path: string }
  /** Nothing can be read from it or written to it. */
  | { readonly kind: "hidden-file" | "hidden-folder"; readonly path: string };

/** What decides about a path is what is mounted deepest; of two at one path, the later. */
export function orderMounts(mounts: readonly Mount[]): readonly Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) byPath.set(mount.path, mount);
  return [...byPath.values()].sort((a, b) => depthOf(a.path) - depthOf(b.path));
}

function depthOf(path: string): number {
  return path.split(sep).filter((component) => component !== "").length;
}
