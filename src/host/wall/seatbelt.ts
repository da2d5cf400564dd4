import type { Launch } from "../command/launch.ts";
import type { WalledCommand } from "./bubblewrap.ts";
import { type Mount, orderMounts } from "./mount.ts";

/**
 * The same view for macOS, as a profile of `sandbox-exec`. It is tested as text on Linux only; it has not run on a Mac yet. It is
 * weaker than bubblewrap: hidden files are refused, not absent; processes of the same user are visible; the working directory is
 * found by its path, not by a handle.
 */
export function toSeatbeltLaunch(file: string, command: WalledCommand): Launch {
  return {
    file,
    args: ["-p", createSeatbeltProfile(command.mounts, command.network), "--", ...command.argv],
    environment: command.environment,
    cwd: command.cwd,
    handed: [],
  };
}

/** The last rule that fits decides: so the deepest path is last, as with mounts. */
export function createSeatbeltProfile(mounts: readonly Mount[], network: boolean): string {
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork)",
    "(allow signal (target same-sandbox))",
    "(allow process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow file-read-metadata)",
    ...systemFolders.map((path) => `(allow file-read* (subpath ${quote(path)}))`),
    ...devices.map((path) => `(allow file-read* file-write* (literal ${quote(path)}))`),
    ...(network ? networkRules : []),
    ...orderMounts(mounts).map(printMount),
    "",
  ].join("\n");
}

const systemFolders = ["/System", "/Library/Apple", "/private/var/db/dyld", "/private/var/select", "/usr/share"];
const devices = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

const networkRules = [
  '(allow network-outbound (remote ip "*:*"))',
  '(allow network-inbound (local ip "localhost:*"))',
  '(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.trustd.agent"))',
  '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
];

function printMount(mount: Mount): string {
  const path = `(subpath ${quote(mount.path)})`;
  switch (mount.kind) {
    case "read-only":
      return `(deny file-write* ${path})\n(allow file-read* ${path})`;
    case "writable":
      // A scope's root, or a folder on the way to one: renamed, it would take the deeper ones out of the rules below.
      return `(allow file-read* file-write* ${path})\n(deny file-write-unlink (literal ${quote(mount.path)}))`;
    case "empty":
      return `(allow file-read* file-write* ${path})`;
    // Nothing can take a file's place here.
    case "content":
    case "hidden-file":
    case "hidden-folder":
      return `(deny file-read* file-write* ${path})`;
    case "link":
      return `(allow file-read* (literal ${quote(mount.path)}))`;
  }
}

function quote(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
