import type { Handed, Launch } from "./launch.ts";
import { type Mount, orderMounts } from "./mount.ts";
import { createSeccompFilter } from "./seccomp.ts";

export interface Bubblewrap {
  readonly file: string;
  /** Words that this version knows, of those that we can do without. */
  readonly features: ReadonlySet<string>;
}

/** What is to run in the wall, and what it may see there. */
export interface WalledCommand {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  /** In the wall's view. */
  readonly cwd: string;
  /** `device:inode` of the folder that it must start in; undefined where only our own mount can be at that path. */
  readonly cwdIdentity: string | undefined;
  readonly network: boolean;
  readonly shell: string;
  /** What `.gitconfig` holds in the command's home; undefined where it has none. */
  readonly gitConfiguration: string | undefined;
}

/** Of memory: what a private folder can take. */
const temporaryBytes = 1024 ** 3;

/**
 * `bwrap` builds the view from nothing. Arguments come through a pipe: they are many, and in the wall everybody could read
 * them in `/proc/1/cmdline`. A bind by descriptor (`--bind-fd`) is checked by bwrap against what it got, so a folder that
 * somebody swaps meanwhile is a failure and no hole.
 */
export function toBubblewrapLaunch(bubblewrap: Bubblewrap, command: WalledCommand): Launch {
  const handed: Handed[] = [];
  const hand = (one: Handed) => String(handed.push(one) + 2);
  hand({ type: "lifeline" });
  const filter = createSeccompFilter(process.arch);
  const mounts = orderMounts(command.mounts);
  const args = [
    ...separation(bubblewrap, command.network),
    ...mounts.flatMap((mount) => printMount(mount, { hand, bubblewrap })),
    // After the scopes, whatever these hold.
    ...["--proc", "/proc", "--dev", "/dev", ...sized(bubblewrap), "--tmpfs", "/dev/shm", "--tmpfs", "/sys"],
    // Last of all: until then mount points are made in them.
    ...mounts.flatMap((mount) => (mount.kind === "hidden-folder" ? ["--remount-ro", mount.path] : [])),
    // Settings of the kernel belong to root, whose rights to files a command has that runs as root.
    ...["/proc", "/sys", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    ...["--chdir", command.cwd],
    ...(filter === undefined ? [] : ["--seccomp", hand({ type: "bytes", bytes: filter })]),
    ...["--json-status-fd", hand({ type: "status" })],
  ];
  const gate = hand({ type: "gate" });
  const options = hand({ type: "bytes", bytes: Buffer.from(args.map((arg) => `${arg}\0`).join("")) });
  const started = [
    command.shell,
    "--noprofile",
    "--norc",
    "-c",
    starter,
    "llm-do",
    gate,
    command.cwdIdentity ?? "",
    command.gitConfiguration ?? "",
    ...command.argv,
  ];
  return {
    file: command.shell,
    args: ["--noprofile", "--norc", "-c", launcher, "llm-do", bubblewrap.file, "--args", options, "--", ...started],
    environment: command.environment,
    cwd: "/",
    handed,
  };
}

/**
 * What starts `bwrap`, outside the wall. Between two of its first steps bwrap has a child that waits for it and for nothing
 * else: whoever ends bwrap just then, as its death with its parent does, leaves that child asleep for ever. So a process of
 * the same group ends the group when the lifeline (descriptor 3) is cut, whatever they are at by then. And the command gets
 * real pipes: we can only hand it sockets, and `/dev/stderr` cannot be opened where that is one.
 */
const launcher = `{ read -r _; kill -9 0; } <&3 >/dev/null 2>&1 & watcher=$!
exec {out}> >(exec cat 3<&-); first=$!
exec {err}> >(exec cat 3<&- >&2); second=$!
exec >/dev/null 2>&1
"$@" 3<&- >&"$out" 2>&"$err" {out}>&- {err}>&-
code=$?
exec {out}>&- {err}>&-
wait "$first" "$second"
kill -9 "$watcher"; wait "$watcher"
exit "$code"`;

/**
 * The first thing in the wall, before the command takes its place: closes descriptors that our own parent left open, says
 * who commits are by, forbids core dumps, bounds the number of processes (the kernel does not bound root's), looks whether
 * it is in the very folder that was asked for, and waits at the gate.
 */
const starter = `for fd in /proc/self/fd/*; do
  fd=\${fd##*/}; [ "$fd" -le 2 ] || [ "$fd" = "$1" ] || eval "exec $fd>&-"
done
[ -z "$3" ] || printf '%s' "$3" > ~/.gitconfig
ulimit -c 0; ulimit -u 4096 2>/dev/null
if [ -n "$2" ] && [ "$(stat -c %d:%i .)" != "$2" ]; then
  echo "the working directory was replaced by another one" >&2; exit 1
fi
echo ready >&"$1"; read -r go <&"$1"; [ "$go" = go ] || exit 1
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

interface Printing {
  readonly hand: (one: Handed) => string;
  readonly bubblewrap: Bubblewrap;
}

function printMount(mount: Mount, { hand, bubblewrap }: Printing): readonly string[] {
  switch (mount.kind) {
    case "link":
      return ["--symlink", mount.target, mount.path];
    case "empty":
      return [...sized(bubblewrap), "--tmpfs", mount.path];
    case "hidden-folder":
      return ["--perms", "0555", "--tmpfs", mount.path];
    case "hidden-file":
      // Devices do not work in such a mount: to open it is refused.
      return ["--ro-bind", "/dev/null", mount.path];
    case "read-only":
    case "writable": {
      const flag = mount.kind === "writable" ? "--bind" : "--ro-bind";
      if (mount.descriptor === undefined) return [flag, mount.source, mount.path];
      return [`${flag}-fd`, hand({ type: "descriptor", descriptor: mount.descriptor }), mount.path];
    }
  }
}
