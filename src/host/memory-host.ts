import type { Isolation } from "./commands.ts";
import { createId } from "./create-id.ts";
import type { Host } from "./host.ts";
import { createMemoryClock, type MemoryClock } from "./memory-clock.ts";
import { createMemoryCommands, type ScriptedCommand } from "./memory-commands.ts";
import { openMemoryRoot } from "./memory-directory.ts";
import { createMemoryFiles } from "./memory-files.ts";
import { type MemoryContent, type MemoryFaults, type MemoryNode, MemoryTree } from "./memory-tree.ts";
import { openScopes, type ScopeSystem } from "./open-scopes.ts";
import { findStateDirectory } from "./state-directory.ts";
import { SystemError } from "./system-error.ts";

export interface MemoryHostOptions {
  /** By absolute POSIX path; folders on the way are made. */
  readonly files?: Readonly<Record<string, MemoryContent>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default `/work`. Made if it is not there, like the home directory. */
  readonly workingDirectory?: string;
  /** Default `/home/user`. */
  readonly homeDirectory?: string;
  /** Milliseconds since the epoch at which time stands. Default 2026-01-01. */
  readonly now?: number;
  /** What `importModule` finds, by absolute path. */
  readonly modules?: Readonly<Record<string, Record<string, unknown>>>;
  /** Programs, by name. Default: none. */
  readonly commands?: Readonly<Record<string, ScriptedCommand>>;
  /** Default: there is a wall. */
  readonly isolation?: Isolation;
  /** Default: every request fails. */
  readonly fetch?: typeof globalThis.fetch;
}

/** A machine in memory: nothing is touched, time moves when told to, ids and randomness are the same in every run. */
export interface MemoryHost extends Host {
  readonly clock: MemoryClock;
  /** Puts a file, folder, link or device there, or replaces it. */
  put(path: string, content: MemoryContent): void;
  /** Text of every file below a path, by absolute path, sorted. */
  snapshot(path?: string): Readonly<Record<string, string>>;
  /** Plans failures of the file system. */
  setFaults(faults: MemoryFaults): void;
}

export function createMemoryHost(options: MemoryHostOptions = {}): MemoryHost {
  const { environment = {}, workingDirectory = "/work", homeDirectory = "/home/user" } = options;
  const clock = createMemoryClock(options.now ?? Date.UTC(2026, 0, 1));
  const tree = new MemoryTree(() => clock.now());
  for (const folder of [workingDirectory, homeDirectory]) tree.makeFolder(folder);
  for (const [path, content] of Object.entries(options.files ?? {})) tree.put(path, content);
  const random = createRandom();
  const system = createMemorySystem(tree, random);
  return {
    environment: Object.freeze({ ...environment }),
    workingDirectory,
    homeDirectory,
    stateDirectory: findStateDirectory({ environment, platform: "linux", homeDirectory, workingDirectory }),
    files: createMemoryFiles(tree, system),
    clock,
    random,
    createId: () => createId(clock.now(), random),
    fetch: options.fetch ?? (() => Promise.reject(new TypeError("fetch failed: this host has no network"))),
    importModule: async (path) => {
      const module = options.modules?.[path];
      if (module === undefined) throw new SystemError("ERR_MODULE_NOT_FOUND", `Cannot find module '${path}'`);
      return module;
    },
    openScopes: (declarations, scopeOptions) => openScopes(system, declarations, scopeOptions),
    commands: createMemoryCommands({
      programs: options.commands ?? {},
      isolation: options.isolation ?? { type: "bubblewrap" },
      clock,
      random,
    }),
    put: (path, content) => tree.put(path, content),
    snapshot: (path = "/") => snapshotOf(tree, path),
    setFaults: (faults) => {
      tree.faults = faults;
    },
  };
}

function createMemorySystem(tree: MemoryTree, random: () => number): ScopeSystem {
  return {
    openRoot: async (path) => openMemoryRoot(tree, path),
    realPath: async (path) => tree.find(path).realPath,
    writer: {
      machine: "memory",
      process: 1,
      isAlive: (process) => process === 1,
      now: tree.now,
      randomName: () => Math.floor(random() * 2 ** 40).toString(36),
    },
    strictNames: false,
  };
}

/** The same sequence in every run (mulberry32). */
function createRandom(): () => number {
  let state = 0x6c6c_6d64;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function snapshotOf(tree: MemoryTree, path: string): Record<string, string> {
  const found: [string, string][] = [];
  const visit = (node: MemoryNode, at: string) => {
    if (node.kind === "file") found.push([at, new TextDecoder().decode(node.bytes)]);
    if (node.kind === "directory")
      for (const [name, child] of node.children) visit(child, at === "/" ? `/${name}` : `${at}/${name}`);
  };
  const { node, realPath } = tree.find(path);
  visit(node, realPath);
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}
