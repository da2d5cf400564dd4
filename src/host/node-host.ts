import { randomBytes } from "node:crypto";
import type { Machine } from "./command/command-setting.ts";
import type { Commands } from "./commands.ts";
import { createIds } from "./create-id.ts";
import { createNodeFiles } from "./files/node-files.ts";
import { createNodeSystem, type NodeSystemOptions } from "./files/node-system.ts";
import { OwnWrites } from "./files/own-writes.ts";
import type { Host } from "./host.ts";
import { importModule } from "./import-module.ts";
import { nodeClock } from "./node-clock.ts";
import { createNodeProcesses } from "./node-processes.ts";
import { findConfigFile } from "./own-files/config-file.ts";
import { privatePlacesOf } from "./own-files/private-folders.ts";
import { findHome, findStateDirectory } from "./own-files/state-directory.ts";
import { createPatientFetch } from "./patient-fetch.ts";
import { openScopes } from "./scopes/open-scopes.ts";

export type NodeHostOverrides = Partial<Host> & {
  readonly system?: NodeSystemOptions;
  /** False: commands run as on a machine without a wall. */
  readonly wall?: boolean;
};

/** The machine that we run on. Reads nothing but the environment until it is asked. */
export function createNodeHost(overrides: NodeHostOverrides = {}): Host {
  const { system: systemOptions, wall = true, ...replaced } = overrides;
  const environment = replaced.environment ?? readEnvironment();
  const workingDirectory = replaced.workingDirectory ?? process.cwd();
  const homeDirectory = replaced.homeDirectory ?? findHome();
  const clock = replaced.clock ?? nodeClock;
  const writes = new OwnWrites();
  const { platform } = process;
  const stateDirectory = findStateDirectory({ environment, platform, homeDirectory, workingDirectory });
  const configFile = findConfigFile({ environment, platform, homeDirectory, workingDirectory });
  const privateFolders = privatePlacesOf({ stateDirectory, configFile, environment });
  const system = createNodeSystem({ now: () => clock.now(), writes, privateFolders, ...systemOptions });
  const processes = createNodeProcesses(system.writer);
  const { openRoot } = system;
  return {
    environment,
    workingDirectory,
    homeDirectory,
    stateDirectory,
    configFile,
    files: createNodeFiles(system),
    clock,
    random: () => Math.random(),
    createId: () => nextId(clock.now()),
    createKey: () => randomBytes(32).toString("hex"),
    fetch: createPatientFetch(),
    importModule,
    openScopes: (declarations, options) => openScopes(system, declarations, options),
    commands: createLazyCommands({
      ...{ environment, homeDirectory, stateDirectory, configFile, processes },
      ...{ wall, writes, openRoot },
    }),
    processes,
    ...replaced,
  };
}

/** One for the process: hosts of the same millisecond make different ones. */
const nextId = createIds(Math.random);

/** Most runs start no process: they need not load what does. */
function createLazyCommands(machine: Machine): Commands {
  let loaded: Promise<Commands> | undefined;
  const load = () => {
    loaded ??= import("./command/node-commands.ts").then(({ createNodeCommands }) => createNodeCommands(machine));
    return loaded;
  };
  return {
    isolation: async () => (await load()).isolation(),
    layers: async () => (await (await load()).layers?.()) === true,
    which: async (name, scopes) => (await load()).which(name, scopes),
    run: async (request) => (await load()).run(request),
  };
}

/** Windows takes `Path` and `PATH` for the same variable; a plain object does not. */
function readEnvironment(): Readonly<Record<string, string | undefined>> {
  if (process.platform !== "win32") return Object.freeze({ ...process.env });
  const entries = Object.entries(process.env).map(([name, value]) => [name.toUpperCase(), value] as const);
  return Object.freeze(Object.fromEntries(entries));
}
