import type { Host } from "./host.ts";
import { openEmptyRoot } from "./memory-directory.ts";
import { MemoryTree } from "./memory-tree.ts";
import { openScopes } from "./open-scopes.ts";

/** Something asked the machine for something in a run that may not touch it. */
export class MachineTouched extends Error {
  constructor(what: string) {
    super(`a replayed run does not touch the machine, and asked for ${what}`);
    this.name = "MachineTouched";
  }
}

/**
 * A host for runs whose effects are answered from a record: every touch of the machine throws a `MachineTouched`. Scopes are
 * known by their declarations, so that paths can be resolved, and hold nothing. Time stands still.
 */
export function createUntouchedHost(): Host {
  const tree = new MemoryTree(() => 0);
  const clock = { now: () => 0, monotonic: () => 0, sleep: () => refuse("clock.sleep") };
  const writer = {
    machine: "none",
    process: 0,
    isAlive: () => true,
    now: clock.now,
    randomName: () => throwTouched("randomName"),
  };
  const system = {
    openRoot: async (path: string) => openEmptyRoot(path, tree),
    makeDirectory: () => refuse("makeDirectory"),
    realPath: async (path: string) => path,
    writer,
    strictNames: false,
  };
  return Object.freeze<Host>({
    environment: {},
    workingDirectory: "/",
    homeDirectory: "/",
    stateDirectory: "/",
    files: refusing<Host["files"]>("files"),
    clock,
    random: () => throwTouched("random"),
    createId: () => throwTouched("createId"),
    fetch: () => refuse("fetch"),
    importModule: () => refuse("importModule"),
    openScopes: (declarations, options) => openScopes(system, declarations, { ...options, missingRoots: "pretend" }),
    commands: refusing<Host["commands"]>("commands"),
  });
}

function refusing<T extends object>(name: string): T {
  return new Proxy({} as T, { get: (_target, member) => () => refuse(`${name}.${String(member)}`) });
}

function refuse(what: string): Promise<never> {
  return Promise.reject(new MachineTouched(what));
}

function throwTouched(what: string): never {
  throw new MachineTouched(what);
}
