import type { Clock, Host } from "./host.ts";
import { createEmptyRoot } from "./scopes/empty-root.ts";
import { openScopes, type ScopeSystem } from "./scopes/open-scopes.ts";

/** Thrown where a run that may not touch the machine asks it for something. */
export class MachineTouched extends Error {
  constructor(what: string) {
    super(`a replayed run does not touch the machine, and asked for ${what}`);
    this.name = "MachineTouched";
  }
}

/**
 * A host for runs whose effects are answered from a record: every touch of the machine fails with a `MachineTouched`. Scopes are
 * known by their declarations, so that paths can be resolved, and are empty. Time stands still.
 */
export function createUntouchedHost(): Host {
  const { fetch, importModule, sleep } = refusing<Host & Clock>("");
  const system: ScopeSystem = {
    openRoot: async (path) => createEmptyRoot(path),
    realPath: async (path) => path,
    writer: refusing("writer."),
    strictNames: false,
    makeCommandFolder: () => throwTouched("makeCommandFolder"),
  };
  return Object.freeze<Host>({
    environment: {},
    workingDirectory: "/",
    homeDirectory: "/",
    stateDirectory: "/",
    configFile: "/config.yaml",
    files: refusing("files."),
    clock: { now: () => 0, monotonic: () => 0, sleep },
    random: () => throwTouched("random"),
    createId: () => throwTouched("createId"),
    createKey: () => throwTouched("createKey"),
    fetch,
    importModule,
    openScopes: (declarations, options) => openScopes(system, declarations, { ...options, missingRoots: "pretend" }),
    commands: refusing("commands."),
    processes: { self: "", isRunning: () => throwTouched("processes") },
  });
}

/** Stands for any object: each of its members is a function that rejects. */
function refusing<T extends object>(prefix: string): T {
  const get = (_target: T, member: string | symbol) => async () => throwTouched(`${prefix}${String(member)}`);
  return new Proxy({} as T, { get });
}

function throwTouched(what: string): never {
  throw new MachineTouched(what);
}
