import { readFileSync } from "node:fs";
import { isWithin } from "../../util/within.ts";
import { enclosing, isLayer, type Mount } from "./mount.ts";

/** Mounted anew by bwrap for each command. */
const ownFolders = ["/proc", "/dev"];

interface Line {
  readonly id: string;
  readonly parent: string;
  readonly device: string;
  /** Within its file system. */
  readonly root: string;
  readonly path: string;
  readonly isWritable: boolean;
}

/**
 * Returns whether the kernel's table of mounts (proc(5), `mountinfo`) is what was described: bwrap follows links, so that a folder on the
 * way which another process swaps for a link takes a mount elsewhere. A mount stays with its folder: what is right now remains so.
 */
export function standsAs(mounts: readonly Mount[], text: string): boolean {
  const lines = text.split("\n").flatMap(parseLine);
  const byId = new Map(lines.map((line) => [line.id, line]));
  const byPath = new Map(lines.map((line) => [line.path, line]));
  const isInPlace = (mount: Mount) => {
    const line = byPath.get(mount.path);
    return line !== undefined && (!line.isWritable || mount.kind === "writable") && showsItself(line, byId.get(line.parent));
  };
  const around = enclosing(mounts);
  const own = new Map(mounts.map((mount) => [mount.path, mount]));
  const mayWrite = ({ path }: Line) => {
    const kind = (own.get(path) ?? around(path))?.kind;
    return kind === "writable" || kind === "empty" || ownFolders.some((folder) => isWithin(path, folder));
  };
  const strays = lines.filter((line) => line.isWritable && !mayWrite(line));
  return mounts.filter(isByDescriptor).every(isInPlace) && areOfMachine(strays);
}

function isByDescriptor(mount: Mount): boolean {
  return "descriptor" in mount && mount.descriptor !== undefined && !isLayer(mount);
}

/** The mount shows what lies at its path in the mount around it; of another file system, nothing can be said. */
function showsItself({ device, root, path }: Line, parent: Line | undefined): boolean {
  if (parent?.device !== device) return true;
  const [above, own] = [parent.path, parent.root].map((folder) => (folder === "/" ? "" : folder)) as [string, string];
  return path.startsWith(above) && root === (own + path.slice(above.length) || "/");
}

/** A mount of the machine below a read-only one can be one that no user but its own may change. */
function areOfMachine(lines: readonly Line[]): boolean {
  if (lines.length === 0) return true;
  const known = new Set(
    readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .flatMap((line) => parseLine(line).map(({ path }) => path)),
  );
  return lines.every(({ path }) => known.has(path));
}

function parseLine(text: string): readonly Line[] {
  const [id, parent, device, root, path, options] = text.split(" ");
  if (!id || !parent || !device || !root || !path || !options) return [];
  return [
    { id, parent, device, root: unescapeField(root), path: unescapeField(path), isWritable: options.split(",").includes("rw") },
  ];
}

function unescapeField(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
