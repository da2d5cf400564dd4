import { posix } from "node:path";
import type { Isolation } from "../host/commands.ts";
import { createIds } from "../host/create-id.ts";
import { SystemError } from "../host/files/system-error.ts";
import type { Host, Processes } from "../host/host.ts";
import { findConfigFile } from "../host/own-files/config-file.ts";
import { privatePlacesOf } from "../host/own-files/private-folders.ts";
import { findStateDirectory } from "../host/own-files/state-directory.ts";
import { openScopes, type ScopeSystem } from "../host/scopes/open-scopes.ts";
import { createMemoryClock, type MemoryClock } from "./memory-clock.ts";
import { createMemoryCommands, type ScriptedCommand } from "./memory-commands.ts";
import { openMemoryRoot } from "./memory-directory.ts";
import { createMemoryFiles } from "./memory-files.ts";
import { type MemoryContent, type MemoryFaults, type MemoryNode, MemoryTree } from "./memory-tree.ts";

export interface MemoryHostOptions {
  /** By POSIX path, absolute or in the working directory. Missing folders are made. */
  readonly files?: Readonly<Record<string, MemoryContent>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Absolute. Default `/work`. Made, like the home directory. */
  readonly workingDirectory?: string;
  /** Absolute. Default `/home/user`. */
  readonly homeDirectory?: string;
  /** The time at the start, in milliseconds since the epoch; `clock.advance` moves it. Default 2026-01-01. */
  readonly now?: number;
  /** The exports of the program's code, by path as in `files`. The file itself must be in `files`, too. */
  readonly modules?: Readonly<Record<string, Record<string, unknown>>>;
  /** Programs that commands can start, by name. Default: none. */
  readonly commands?: Readonly<Record<string, ScriptedCommand>>;
  /** Isolation of commands. Default: by bubblewrap. */
  readonly isolation?: Isolation;
  /** Default: every request rejects with a `TypeError`, as without a network. */
  readonly fetch?: typeof globalThis.fetch;
  /** Default: one process, `memory 1`, which runs. */
  readonly processes?: Processes;
}

/** A machine in memory. Time stands still until `clock.advance`; ids and random numbers are the same for every host. */
export interface MemoryHost extends Host {
  readonly clock: MemoryClock;
  /** Makes or replaces a file, folder, link or device. */
  put(path: string, content: MemoryContent): void;
  /** Text of every file below a path (default `/`), by absolute path, sorted. */
  snapshot(path?: string): Readonly<Record<string, string>>;
  /** Makes operations of the file system fail; replaces earlier faults. */
  setFaults(faults: MemoryFaults): void;
}

/** Creates a host for tests of programs and hosts. It touches neither disk, network nor clock, and starts no process. */
export function memoryHost(options: MemoryHostOptions = {}): MemoryHost {
  const { environment = {}, workingDirectory = "/work", homeDirectory = "/home/user" } = options;
  const clock = createMemoryClock(options.now ?? Date.UTC(2026, 0, 1));
  const tree = new MemoryTree(() => clock.now());
  for (const folder of [workingDirectory, homeDirectory]) tree.makeFolder(folder);
  const absolute = (path: string) => posix.resolve(workingDirectory, path);
  for (const [path, content] of Object.entries(options.files ?? {})) tree.put(absolute(path), content);
  const modules = new Map(Object.entries(options.modules ?? {}).map(([path, exports]) => [absolute(path), exports]));
  const random = createRandom();
  const stateDirectory = findStateDirectory({ environment, platform: "linux", homeDirectory, workingDirectory });
  const configFile = findConfigFile({ environment, platform: "linux", homeDirectory, workingDirectory });
  const privateFolders = privatePlacesOf({ stateDirectory, configFile, environment });
  const system = { ...createMemorySystem(tree, random), privateFolders };
  const nextId = createIds(random);
  return {
    environment: Object.freeze({ ...environment }),
    workingDirectory,
    homeDirectory,
    stateDirectory,
    configFile,
    files: createMemoryFiles(tree, system),
    clock,
    random,
    createId: () => nextId(clock.now()),
    createKey: () => Array.from({ length: 64 }, () => Math.floor(random() * 16).toString(16)).join(""),
    fetch: options.fetch ?? (() => Promise.reject(new TypeError("fetch failed: this host has no network"))),
    importModule: async (path) => {
      const module = modules.get(path);
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
    processes: options.processes ?? { self: "memory 1", isRunning: (owner) => owner === "memory 1" },
    put: (path, content) => tree.put(absolute(path), content),
    snapshot: (path = "/") => snapshotOf(tree, path),
    setFaults: (faults) => {
      tree.faults = faults;
    },
  };
}

function createMemorySystem(tree: MemoryTree, random: () => number): ScopeSystem {
  const writer = {
    machine: "memory",
    process: 1,
    isAlive: (id: number) => id === 1,
    now: tree.now,
    randomName: () => Math.floor(random() * 2 ** 40).toString(36),
  };
  return {
    openRoot: async (path) => openMemoryRoot(tree, path),
    realPath: async (path) => tree.find(path).realPath,
    writer,
    strictNames: false,
    makeCommandFolder: async () => {
      const path = `/tmp/llm-do-commands-${writer.randomName()}`;
      tree.makeFolder(path);
      const { folder, name } = tree.findParent(path);
      return { path, remove: async () => void folder.children.delete(name) };
    },
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
