import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NotIsolated } from "../commands.ts";
import type { EntryHandle } from "../directory.ts";
import type { OpenFolder } from "../scope-walk.ts";
import { isWithin } from "../within.ts";
import { type Bubblewrap, toBubblewrapLaunch, type WalledCommand } from "./bubblewrap.ts";
import { createCommandEnvironment } from "./command-environment.ts";
import { toArgv } from "./command-request.ts";
import type { CommandSetting } from "./command-setting.ts";
import type { Wall } from "./find-wall.ts";
import type { Ended } from "./launch.ts";
import type { Mount } from "./mount.ts";
import { findProgram } from "./program-path.ts";
import { runProcess } from "./run-process.ts";
import { findStart, toMask, toRootMounts } from "./scope-view.ts";
import { toSeatbeltLaunch } from "./seatbelt.ts";
import { hideSecrets, secretPlaces } from "./secret-places.ts";
import { findSystemView, privateFolders, wallHome, wallTemporary } from "./system-view.ts";
import { findToolchainView, toolchainEnvironment } from "./toolchain-view.ts";

/** A folder that is renamed all the time can make bwrap fail; more often than that is no accident. */
const attempts = 3;

/** Where a command can write whatever it likes. */
interface PrivatePlaces {
  readonly home: string;
  readonly temporary: string;
  readonly mounts: readonly Mount[];
}

/** Behind the wall, or not at all. */
export async function runWalled(
  wall: Exclude<Wall, { type: "none" }>,
  setting: CommandSetting,
  folder: OpenFolder,
): Promise<Ended> {
  const handles: EntryHandle[] = [];
  try {
    for (const root of setting.table.roots) handles.push(await root.directory.openHandle("."));
    const described = { ...setting, folder, handles };
    return wall.type === "bubblewrap"
      ? await runInBubblewrap(wall.bubblewrap, described)
      : await runInSeatbelt(wall.file, described);
  } finally {
    await Promise.all(handles.map((one) => one.close()));
  }
}

interface WalledSetting extends CommandSetting {
  readonly folder: OpenFolder;
  /** The scopes' roots. */
  readonly handles: readonly EntryHandle[];
}

async function runInBubblewrap(bubblewrap: Bubblewrap, setting: WalledSetting): Promise<Ended> {
  const command = await describeCommand(setting, { home: wallHome, temporary: wallTemporary, mounts: privateFolders });
  let said = "";
  for (let count = 0; count < attempts; count++) {
    setting.request.signal.throwIfAborted();
    const ended = await runProcess(toBubblewrapLaunch(bubblewrap, command), setting.request);
    if (!hasFailed(ended)) return ended;
    said = ended.stderr.text.trim();
  }
  throw new NotIsolated(`${bubblewrap.file} could not isolate the command: ${said}`);
}

/** The command has not begun, and not because nobody wants it. What is too long to be started is its own fault. */
function hasFailed(ended: Ended): boolean {
  return !ended.hasBegun && !ended.aborted && !ended.timedOut && ended.failure !== "E2BIG";
}

async function runInSeatbelt(file: string, setting: WalledSetting): Promise<Ended> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "llm-do-home-")));
  try {
    const command = await describeCommand(setting, {
      home: folder,
      temporary: folder,
      mounts: [{ kind: "empty", path: folder }],
    });
    if (command.gitConfiguration !== undefined) await writeFile(join(folder, ".gitconfig"), command.gitConfiguration);
    setting.request.signal.throwIfAborted();
    return await runProcess(toSeatbeltLaunch(file, command), setting.request);
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function describeCommand(setting: WalledSetting, places: PrivatePlaces): Promise<WalledCommand> {
  const { request, path, shell = "", table, folder } = setting;
  const inherited = inheritedEnvironment(setting);
  const start = findStart(table, folder);
  return {
    argv: toArgv(request.command, shell),
    environment: createCommandEnvironment({
      environment: inherited,
      path,
      separator: ":",
      home: places.home,
      temporary: places.temporary,
      shell,
      hooks: request.hooks === true,
      added: request.environment ?? {},
    }),
    mounts: await findMounts(setting, inherited, places.mounts),
    cwd: start.path,
    cwdIdentity: start.identity,
    network: request.network,
    shell,
    gitConfiguration: setting.gitConfiguration,
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

function inheritedEnvironment({ machine, path }: WalledSetting): Environment {
  return { ...toolchainEnvironment(path, machine.homeDirectory), ...machine.environment };
}

async function findMounts(
  setting: WalledSetting,
  environment: Environment,
  privately: readonly Mount[],
): Promise<readonly Mount[]> {
  const { request, machine, table, path, homes } = setting;
  const [name = ""] = request.command.type === "argv" ? request.command.argv : [];
  const system = await findSystemView();
  const secrets = secretPlaces(homes, machine);
  const program = await findProgram(name, path);
  const roots = toRootMounts(table, setting.handles);
  const toolchains = await findToolchainView({ environment, path, homes, seen: [...system, ...roots], secrets, program });
  const masks = setting.before.entries.flatMap(toMask);
  const hidden = await hideSecrets(secrets, [...system, ...toolchains, ...roots]);
  // What lies in a hidden folder would be shown again by a mount of its own.
  const shown = masks.filter(({ path }) => !isWithinHidden(path, hidden, roots));
  // Of two at one path the later counts: what is secret is more than protected, and a root that is either was meant.
  return [...system, ...privately, ...toolchains, ...shown, ...hidden, ...roots];
}

/** Not where a scope's root lies in between: that was declared on purpose. */
function isWithinHidden(path: string, hidden: readonly Mount[], roots: readonly Mount[]): boolean {
  const isMeant = (place: Mount) => roots.some((root) => isWithin(path, root.path) && isWithin(root.path, place.path));
  return hidden.some((place) => isWithin(path, place.path) && !isMeant(place));
}
