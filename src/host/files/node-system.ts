import { createHash, randomBytes } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { createCommandFolders } from "../command/command-folder.ts";
import { createNodeProcesses } from "../node-processes.ts";
import type { ScopeSystem } from "../scopes/open-scopes.ts";
import { canOpenByDescriptor, NodeDirectory } from "./node-directory.ts";
import { toFacts } from "./node-entry.ts";
import type { OwnWrites } from "./own-writes.ts";
import { PathDirectory } from "./path-directory.ts";
import { errorCode } from "./system-error.ts";
import { findRealPath, toSystemPath } from "./system-path.ts";
import type { Writer } from "./temporary-name.ts";

export interface NodeSystemOptions {
  /** False: as on a system without paths through descriptors. Default: what this one has. */
  readonly byDescriptor?: boolean;
  readonly now?: () => number;
  readonly writes?: OwnWrites;
  /** See `ScopeSystem`. */
  readonly privateFolders?: readonly string[];
}

export function createNodeSystem(options: NodeSystemOptions = {}): ScopeSystem {
  let byDescriptor = options.byDescriptor === false ? false : undefined;
  const writer = createNodeWriter(options);
  return {
    openRoot: async (path) => {
      const realPath = findRealPath(path);
      byDescriptor ??= canOpenByDescriptor(toSystemPath(realPath));
      const directory = byDescriptor ? NodeDirectory.open(toSystemPath(realPath)) : PathDirectory.open(realPath);
      return Object.assign(directory, {
        realPath,
        isInPlace: async () => identityOf(realPath) === directory.identity,
      });
    },
    realPath: async (path) => findRealPath(path),
    isMissing,
    writer,
    ...(process.geteuid ? { user: process.geteuid() } : {}),
    makeCommandFolder: createCommandFolders(createNodeProcesses(writer)),
    strictNames: process.platform === "win32",
    privateFolders: options.privateFolders ?? [],
  };
}

function isMissing(path: string): boolean {
  try {
    return lstatSync(toSystemPath(path), { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

function identityOf(path: string): string | undefined {
  try {
    return toFacts(lstatSync(toSystemPath(path), { bigint: true })).identity;
  } catch {
    return undefined;
  }
}

export function createNodeWriter({ now = Date.now, writes }: NodeSystemOptions = {}): Writer {
  return {
    ...(writes === undefined ? {} : { writes }),
    machine: createHash("sha256").update(`${hostname()}${processNamespace()}`).digest("hex").slice(0, 8),
    process: process.pid,
    isAlive,
    now,
    randomName: () => randomBytes(10).toString("hex"),
  };
}

/** Distinguishes containers with the same host name, which do not see each other's processes. Empty on other systems than Linux. */
function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return !isDead(pid);
  } catch (error) {
    // EPERM: there is one, of another user.
    return errorCode(error) !== "ESRCH";
  }
}

/** In a container without an init, zombies stay. */
function isDead(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    return isZombie(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

/** Returns whether `/proc/<pid>/stat` describes a zombie: a process that has ended, and that its parent has not reaped. */
export function isZombie(stat: string): boolean {
  // The name in brackets can hold anything; the state follows it.
  return /^.*\) Z/s.test(stat);
}
