import type { Handed, Launch } from "../command/launch.ts";
import type { EntryHandle } from "../files/directory.ts";
import { toPathBytes } from "../files/system-path.ts";
import { enclosing, isLayer, type Mount, orderMounts } from "./mount.ts";
import { standsAs } from "./mount-table.ts";
import { createSeccompFilter } from "./seccomp.ts";

export interface Bubblewrap {
  readonly file: string;
  /** Optional flags that this version knows. */
  readonly features: ReadonlySet<string>;
}

/** A command, and its view in the wall. */
export interface WalledCommand {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  /** In the wall's view. */
  readonly cwd: string;
  /** The folder that it must start in; undefined if only our own mount can be at that path. */
  readonly cwdHandle: EntryHandle | undefined;
  readonly network: boolean;
  readonly shell: string;
  /** Content of `.gitconfig` in the command's home; undefined if it has none. */
  readonly gitConfiguration: string | undefined;
}

const filter = createSeccompFilter(process.arch);

/** The size of a private folder, in memory. */
const temporaryBytes = 1024 ** 3;

/**
 * Describes the start of `bwrap`, which builds the view from nothing. Arguments come through a pipe: they are many, and each process
 * in the wall could read them in `/proc/1/cmdline`. bwrap checks a bind by descriptor (`--bind-fd`) against what it got, and
 * the gate where it is, so a folder that is swapped meanwhile is a failure and no hole.
 */
export function toBubblewrapLaunch(
  bubblewrap: Bubblewrap,
  command: WalledCommand,
  layerSource: Printing["layerSource"] = ({ path }) => path,
): Launch {
  const handed: Handed[] = [];
  const hand = (one: Handed) => String(handed.push(one) + 2);
  const mounts = leaveOutNeedless(orderMounts(command.mounts));
  const around = enclosing(mounts);
  const isSystemCovered = around("/sys") !== undefined;
  const args = [
    ...separation(bubblewrap, command.network),
    ...mounts.flatMap((mount) => printMount(mount, { hand, bubblewrap, around, layerSource })),
    // After the scopes, whose mounts could cover them.
    ...["--proc", "/proc", "--dev", "/dev", ...sized(bubblewrap), "--tmpfs", "/dev/shm"],
    ...(isSystemCovered ? ["--tmpfs", "/sys", "--remount-ro", "/sys"] : ["--dir", "/sys"]),
    // At the end: until then mount points are made in them.
    ...mounts.flatMap((mount) => (mount.kind === "hidden-folder" ? ["--remount-ro", mount.path] : [])),
    // Settings of the kernel belong to root, whose rights to files a command has that runs as root.
    ...["/proc", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    ...["--chdir", command.cwd],
    ...(filter === undefined ? [] : ["--seccomp", hand({ type: "bytes", bytes: filter })]),
    ...["--json-status-fd", hand({ type: "status" })],
  ];
  const gate = hand({ type: "gate", accepts: (table) => standsAs(mounts, table) });
  const start = command.cwdHandle === undefined ? "" : hand(toHanded(command.cwdHandle));
  const options = hand({ type: "bytes", bytes: toPathBytes(args.map((arg) => `${arg}\0`).join("")) });
  const started = [
    command.shell,
    "--noprofile",
    "--norc",
    "-c",
    starter,
    "llm-do",
    gate,
    start,
    command.gitConfiguration ?? "",
    ...command.argv,
  ];
  return {
    file: bubblewrap.file,
    args: ["--args", options, "--", ...started],
    environment: command.environment,
    cwd: "/",
    handed,
  };
}

/** Without a descriptor, the path is all that is known of the folder. */
function toHanded({ descriptor, path }: EntryHandle): Handed {
  return descriptor === undefined ? { type: "file", path } : { type: "descriptor", descriptor };
}

/**
 * The first script in the wall, which the command replaces: checks that it is in the requested folder, closes its descriptor and those
 * that our own parent left open, writes `.gitconfig`, forbids core dumps, bounds the number of processes (the kernel does not bound
 * root's), tells the mounts, and waits at the gate.
 */
const starter = `if [ -n "$2" ] && ! [ . -ef "/proc/self/fd/$2" ]; then
  echo "the working directory was replaced by another one" >&2; exit 1
fi
for fd in /proc/self/fd/*; do
  fd=\${fd##*/}; [ "$fd" -le 2 ] || [ "$fd" = "$1" ] || eval "exec $fd>&-"
done
[ -z "$3" ] || printf '%s' "$3" > ~/.gitconfig
ulimit -c 0; ulimit -u 4096 2>/dev/null
printf '%s\nready\n' "$(</proc/self/mountinfo)" >&"$1"
read -r go <&"$1"; [ "$go" = go ] || { echo "its folders were moved while it was being set up" >&2; exit 1; }
eval "exec $1>&-"; shift 3; exec -- "$@"`;

function separation({ features }: Bubblewrap, network: boolean): readonly string[] {
  return [
    "--unshare-all",
    ...(network ? ["--share-net"] : []),
    ...(features.has("--disable-userns") ? ["--unshare-user", "--disable-userns"] : []),
    ...["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "llm-do"],
  ];
}

function sized({ features }: Bubblewrap): readonly string[] {
  return features.has("--size") ? ["--size", String(temporaryBytes)] : [];
}

/** Leaves out what a mount around it shows or hides already: bwrap reads the table of mounts again for each. */
function leaveOutNeedless(mounts: readonly Mount[]): readonly Mount[] {
  const around = enclosing(mounts);
  const isItself = (mount: Mount | undefined) =>
    mount?.kind === "read-only" && mount.descriptor === undefined && mount.source === mount.path;
  const isHidden = ({ kind, path }: Mount) => kind.startsWith("hidden") && around(path)?.kind === "hidden-folder";
  return mounts.filter((mount) => !isHidden(mount) && !(isItself(mount) && isItself(around(mount.path))));
}

interface Printing {
  /** The folder of a layer in the namespace in which bwrap starts. */
  readonly layerSource: (mount: Mount) => string;
  readonly hand: (one: Handed) => string;
  readonly bubblewrap: Bubblewrap;
  readonly around: ReturnType<typeof enclosing>;
}

function printMount(mount: Mount, { hand, bubblewrap, around, layerSource }: Printing): readonly string[] {
  switch (mount.kind) {
    case "link":
      return ["--symlink", mount.target, mount.path];
    case "empty":
      if (around(mount.path)?.kind === "empty") return ["--dir", mount.path];
      return [...sized(bubblewrap), "--tmpfs", mount.path];
    case "hidden-folder":
      return ["--perms", "0555", "--tmpfs", mount.path];
    case "content": {
      const bytes = Buffer.from(mount.content);
      return ["--perms", "0444", "--ro-bind-data", hand({ type: "bytes", bytes }), mount.path];
    }
    case "hidden-file":
      // Devices do not work in such a mount: opening it fails.
      return ["--ro-bind", "/dev/null", mount.path];
    case "read-only":
    case "writable": {
      if (isLayer(mount)) return ["--bind", layerSource(mount), mount.path];
      const flag = mount.kind === "writable" ? "--bind" : "--ro-bind";
      if (mount.descriptor === undefined) return [flag, mount.source, mount.path];
      return [`${flag}-fd`, hand({ type: "descriptor", descriptor: mount.descriptor }), mount.path];
    }
  }
}
