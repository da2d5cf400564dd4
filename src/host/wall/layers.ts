import { closeSync, constants, fstatSync, openSync, readSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Handed, Launch } from "../command/launch.ts";
import { statOf } from "../command/look.ts";
import { findSystemProgram } from "../command/program-path.ts";
import type { EntryHandle } from "../files/directory.ts";
import { toPathText } from "../files/system-path.ts";

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
 * no further. `mount` is started twice, whatever the number of layers. `$list`: empty if nothing is listed.
 */
const script = `place=$1 mount=$2 find=$3 list=$4 table=$5 count=$6; shift 6
folders=(); for ((i = 0; i < count; i++)); do folders+=("$place/l$i" "$place/u$i" "$place/w$i" "$place/m$i"); done
"$mount" -t tmpfs -o "size=${layerBytes},mode=0700" tmpfs "$place" && mkdir "\${folders[@]}" || exit 1
for ((i = 0; i < count; i++)); do
  path=\${@:3 * i + 1:1} mode=\${@:3 * i + 3:1}
  [ "$mode" = 755 ] || chmod "$mode" "$place/u$i"
  { [ -O "$path" ] && [ -G "$path" ]; } || chown --reference="$path" "$place/u$i" 2>/dev/null
done
printf '%s\\n' "$table" > "$place/table" && "$mount" --all --fstab "$place/table" || exit 1
for ((i = 0; i < count; i++)); do
  [ "$place/l$i" -ef "/proc/self/fd/$2" ] || { echo "a folder was replaced by another one" >&2; exit 1; }
  eval "exec $2<&-"; shift 3
done
[ -n "$list" ] || exec "$@"
trap : TERM INT HUP
(eval "exec $list>&-"; exec "$@"); code=$?
for ((i = 0; i < count; i++)); do
  (cd "$place/u$i" && "$find" . -mindepth 1 '(' '!' -type d -o -empty ')' -printf "$i %P\\0")
done 2>/dev/null | head -c ${maxListBytes} >&"$list"
exit "$code"`;

export interface Layering {
  readonly programs: LayerPrograms;
  /** A private folder, on which the layers are mounted. */
  readonly place: string;
  /** What was written is listed. */
  readonly isListed: boolean;
}

/** Puts layers around the start of a wall whose mounts take `layerFolder` as their sources. */
export function addLayers(
  launch: Launch,
  layers: readonly Layer[],
  { programs, place, isListed, shell }: Layering & { readonly shell: string },
): LayeredLaunch {
  const list = isListed ? openList(dirname(place)) : undefined;
  const first = launch.handed.length + 3;
  const folders = layers.map(
    ({ path, handle }): Handed =>
      handle.descriptor === undefined ? { type: "file", path } : { type: "descriptor", descriptor: handle.descriptor },
  );
  const isRoot = process.getuid?.() === 0;
  const args = [
    ...(isRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"]),
    ...[shell, "--noprofile", "--norc", "-c", script, "llm-do", place, programs.mount, programs.find],
    ...[list === undefined ? "" : String(first + layers.length), tableOf(layers, place, isRoot), String(layers.length)],
    ...layers.flatMap(({ path }, index) => [path, String(first + index), modeOf(path)]),
    ...[launch.file, ...(isRoot ? [] : idsOfUser()), ...launch.args],
  ];
  const handed: Handed[] = [...folders, ...(list === undefined ? [] : [{ type: "descriptor", descriptor: list } as const])];
  return {
    launch: { ...launch, file: programs.unshare, args, handed: [...launch.handed, ...handed] },
    written: () => (list === undefined ? [] : readList(list)),
  };
}

/** The mounts as `fstab` lists them. */
function tableOf(layers: readonly Layer[], place: string, isRoot: boolean): string {
  const extra = isRoot ? "volatile" : "userxattr";
  const lines = layers.flatMap(({ path }, index) => {
    const [lower, upper, work] = ["l", "u", "w"].map((name) => join(place, `${name}${index}`)) as [string, string, string];
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work},${extra}`;
    return [
      [path, lower, "none", "rbind"],
      ["overlay", layerFolder(place, index), "overlay", options],
    ];
  });
  return lines.map((fields) => fields.map(escapeField).join(" ")).join("\n");
}

/** Blanks, line ends and backslashes would end a field, or begin another one. */
function escapeField(text: string): string {
  return text.replaceAll(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

function modeOf(path: string): string {
  return ((statOf(path)?.mode ?? 0o755) & 0o7777).toString(8);
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
    const entries = toPathText(bytes).split("\0").slice(0, -1);
    return entries.map((entry) => [Number.parseInt(entry, 10), entry.slice(entry.indexOf(" ") + 1)]);
  } finally {
    closeSync(descriptor);
  }
}
