import { closeSync, constants, fstatSync, openSync, readSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { EntryHandle } from "../directory.ts";
import type { Handed, Launch } from "./launch.ts";
import { findSystemProgram } from "./program-path.ts";

/** Programs of the system that mount layers. */
export interface LayerPrograms {
  readonly unshare: string;
  readonly mount: string;
  readonly find: string;
}

/** A folder that a command changes as it likes, while what is there stays as it is. */
export interface Layer {
  /** Host path. */
  readonly path: string;
  readonly handle: EntryHandle;
}

export interface LayeredLaunch {
  readonly launch: Launch;
  /** Returns the paths that were written, below the layer with this index. To be called once, when the process has ended. */
  written(): readonly (readonly [index: number, path: string])[];
}

export function findLayerPrograms(path: readonly string[]): LayerPrograms | undefined {
  const [unshare, mount, find] = ["unshare", "mount", "find"].map((name) => findSystemProgram(name, path));
  return unshare === undefined || mount === undefined || find === undefined ? undefined : { unshare, mount, find };
}

/** The most that a command may write, in memory. */
const layerBytes = 1024 ** 3;
const maxListBytes = 65_536;

/** The folder of a layer, in the namespace of the command. `place`: where the layers are mounted. */
export function layerFolder(place: string, index: number): string {
  return join(place, `m${index}`);
}

/**
 * Runs in a namespace of its own, before the wall: mounts the layers, starts the wall, and lists what was written. Each folder is bound
 * first and compared with what was opened, so that one which is swapped meanwhile is a failure and no hole. Descriptors of folders go
 * no further.
 */
const script = `place=$1 mount=$2 find=$3 list=$4 extra=$5 count=$6; shift 6
"$mount" -t tmpfs -o "size=${layerBytes},mode=0700" tmpfs "$place" || exit 1
for ((i = 0; i < count; i++)); do
  mkdir "$place/l$i" "$place/u$i" "$place/w$i" "$place/m$i" && "$mount" --rbind -- "$1" "$place/l$i" || exit 1
  [ "$place/l$i" -ef "/proc/self/fd/$2" ] || { echo "a folder was replaced by another one" >&2; exit 1; }
  chmod --reference="$place/l$i" "$place/u$i" && chown --reference="$place/l$i" "$place/u$i" 2>/dev/null
  "$mount" -t overlay -o "lowerdir=$place/l$i,upperdir=$place/u$i,workdir=$place/w$i$extra" overlay "$place/m$i" || exit 1
  eval "exec $2<&-"; shift 2
done
trap : TERM INT HUP
(eval "exec $list>&-"; exec "$@"); code=$?
for ((i = 0; i < count; i++)); do
  (cd "$place/u$i" && "$find" . -mindepth 1 '(' '!' -type d -o -empty ')' -printf "$i %P\\0")
done 2>/dev/null | head -c ${maxListBytes} >&"$list"
exit "$code"`;

/** Puts layers around the start of a wall whose mounts take `layerFolder` as their sources. `folder`: private, for a file. */
export function addLayers(
  launch: Launch,
  layers: readonly Layer[],
  { programs, place, shell, folder }: { programs: LayerPrograms; place: string; shell: string; folder: string },
): LayeredLaunch {
  const list = openList(folder);
  const first = launch.handed.length + 3;
  const handed: Handed[] = [
    { type: "descriptor", descriptor: list },
    ...layers.map(
      ({ path, handle }): Handed =>
        handle.descriptor === undefined ? { type: "file", path } : { type: "descriptor", descriptor: handle.descriptor },
    ),
  ];
  const isRoot = process.getuid?.() === 0;
  const args = [
    ...(isRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"]),
    ...[shell, "--noprofile", "--norc", "-c", script, "llm-do", place, programs.mount, programs.find, String(first)],
    ...[isRoot ? ",volatile" : ",userxattr", String(layers.length)],
    ...layers.flatMap(({ path }, index) => [path, String(first + 1 + index)]),
    ...[launch.file, ...(isRoot ? [] : idsOfUser()), ...launch.args],
  ];
  return {
    launch: { ...launch, file: programs.unshare, args, handed: [...launch.handed, ...handed] },
    written: () => readList(list),
  };
}

/** In a namespace with its own users, everybody is root at first. */
function idsOfUser(): readonly string[] {
  return ["--unshare-user", "--uid", String(process.getuid?.()), "--gid", String(process.getgid?.())];
}

function openList(folder: string): number {
  const path = join(folder, `written-${process.pid}-${performance.now()}`);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  unlinkSync(path);
  return descriptor;
}

function readList(descriptor: number): readonly (readonly [number, string])[] {
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, maxListBytes));
    readSync(descriptor, bytes, 0, bytes.length, 0);
    // The last one may be cut.
    const entries = bytes.toString().split("\0").slice(0, -1);
    return entries.map((entry) => [Number.parseInt(entry, 10), entry.slice(entry.indexOf(" ") + 1)]);
  } finally {
    closeSync(descriptor);
  }
}
