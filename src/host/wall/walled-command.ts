import { isWithin } from "../../util/within.ts";
import { createCommandEnvironment, inPrivateHome } from "../command/command-environment.ts";
import { toArgv } from "../command/command-request.ts";
import type { CommandSetting } from "../command/command-setting.ts";
import type { Ended } from "../command/launch.ts";
import { findProgram } from "../command/program-path.ts";
import { runProcess } from "../command/run-process.ts";
import { NotIsolated } from "../commands.ts";
import type { EntryHandle } from "../files/directory.ts";
import { layersFolder, settingsFolder } from "../own-files/private-folders.ts";
import { foldName } from "../scopes/protected-names.ts";
import type { ScopeTable } from "../scopes/scope-table.ts";
import { assertInPlace, type OpenFolder } from "../scopes/scope-walk.ts";
import type { Bubblewrap, WalledCommand } from "./bubblewrap.ts";
import type { Wall } from "./find-wall.ts";
import { gitFoldersIn } from "./hidden-entries.ts";
import { findLayerPrograms, type Layering } from "./layers.ts";
import { foldersAbove, isLayer, type Mount } from "./mount.ts";
import type { ProtectedEntry } from "./protected-entries.ts";
import { runBubblewrap, runLayered } from "./run-bubblewrap.ts";
import { findStart, type KeepHandle, pinFolders, toLayerMounts, toMask, toPlaceMounts, toRootMounts } from "./scope-view.ts";
import { toSeatbeltLaunch } from "./seatbelt.ts";
import { findSecrets, findServiceSettings, hideSecrets } from "./secret-places.ts";
import { copySettings, makeCopiesFolder } from "./settings-copy.ts";
import { findSystemView, privateFolders, wallHome, wallTemporary } from "./system-view.ts";
import { findToolchainView } from "./toolchain-view.ts";

/** A folder that is renamed meanwhile can make bwrap fail. More failures are no accident. */
const attempts = 3;

/** Folders of the command alone. */
interface PrivateFolders {
  readonly home: string;
  readonly temporary: string;
  readonly mounts: readonly Mount[];
}

/** Runs a command behind the wall, or rejects with `NotIsolated`, or with a `ScopeError` if a root is not in its place. */
export async function runWalled(
  wall: Exclude<Wall, { type: "none" }>,
  setting: CommandSetting,
  folder: OpenFolder,
): Promise<Ended> {
  const { roots } = setting.table;
  const kept: EntryHandle[] = [];
  const keep: KeepHandle = async (opening) => {
    const handle = await opening;
    kept.push(handle);
    return handle;
  };
  try {
    for (const { declaration } of roots) await assertInPlace(setting.table, declaration);
    const cwd = await keep(folder.directory.openHandle("."));
    const handles: EntryHandle[] = [];
    for (const { directory } of roots) handles.push(await keep(directory.openHandle(".")));
    const placeHandles: EntryHandle[] = [];
    for (const { directory } of setting.places) placeHandles.push(await keep(directory.openHandle(".")));
    const described = { ...setting, folder, cwd, handles, placeHandles, keep };
    return wall.type === "bubblewrap"
      ? await runInBubblewrap(wall.bubblewrap, described)
      : await runInSeatbelt(wall.file, described);
  } finally {
    await Promise.all(kept.map((one) => one.close()));
  }
}

interface WalledSetting extends CommandSetting {
  readonly folder: OpenFolder;
  readonly cwd: EntryHandle;
  /** The scopes' roots. */
  readonly handles: readonly EntryHandle[];
  /** The folders that it may write in. */
  readonly placeHandles: readonly EntryHandle[];
  readonly keep: KeepHandle;
}

async function runInBubblewrap(bubblewrap: Bubblewrap, setting: WalledSetting): Promise<Ended> {
  const { stateDirectory, processes } = setting.machine;
  const parent = settingsFolder(stateDirectory);
  makeCopiesFolder(parent);
  const described = await describeCommand(setting, { home: wallHome, temporary: wallTemporary, mounts: privateFolders });
  const view = await copySettings(described.mounts, { parent, processes });
  const layering = described.mounts.some(isLayer) ? await findLayering(setting) : undefined;
  let said = "";
  try {
    for (let count = 0; count < attempts; count++) {
      setting.request.signal.throwIfAborted();
      const command = { ...described, mounts: view.mounts };
      const { request: limits, onWritten } = setting;
      const ended = layering
        ? await runLayered(bubblewrap, command, { limits, layering, onWritten })
        : await runBubblewrap(bubblewrap, command, limits);
      if (!hasFailed(ended)) return ended;
      said = ended.stderr.text.trim();
    }
  } finally {
    view.release();
  }
  throw new NotIsolated(`${bubblewrap.file} could not isolate the command: ${said}`);
}

/** Rejects if there are no layers: what was to be thrown away must not remain. */
async function findLayering({ machine, path, request }: WalledSetting): Promise<Layering> {
  const programs = findLayerPrograms(path);
  if (programs === undefined) throw new NotIsolated("unshare, mount and find of the system are missing");
  const place = layersFolder(machine.stateDirectory);
  makeCopiesFolder(place);
  return { programs, place, isListed: request.rights?.scratch === true };
}

/** Returns whether the wall failed: the command has not begun, was not aborted, and is not too long to be started. */
function hasFailed(ended: Ended): boolean {
  return !ended.hasBegun && !ended.aborted && !ended.timedOut && ended.failure !== "E2BIG";
}

function runInSeatbelt(file: string, setting: WalledSetting): Promise<Ended> {
  return inPrivateHome(setting, async (home) => {
    const command = await describeCommand(setting, { home, temporary: home, mounts: [{ kind: "empty", path: home }] });
    setting.request.signal.throwIfAborted();
    return runProcess(toSeatbeltLaunch(file, command), setting.request);
  });
}

async function describeCommand(setting: WalledSetting, folders: PrivateFolders): Promise<WalledCommand> {
  const { request, shell = "", table, folder, gitConfiguration } = setting;
  const start = findStart(table, folder);
  const mounts = await findMounts(setting, folders.mounts);
  const isInLayer = mounts.some((mount) => isLayer(mount) && isWithin(start.path, mount.path));
  return {
    argv: toArgv(request.command, shell),
    environment: createCommandEnvironment(setting, folders),
    mounts,
    cwd: start.path,
    // A folder in a layer is another one than that below it.
    cwdHandle: start.isFixed || isInLayer ? undefined : setting.cwd,
    network: request.network,
    shell,
    gitConfiguration,
  };
}

async function findMounts(setting: WalledSetting, privately: readonly Mount[]): Promise<readonly Mount[]> {
  const { request, machine, table, path, environment, homes, keep } = setting;
  const [name = ""] = request.command.type === "argv" ? request.command.argv : [];
  const { places } = setting;
  const roots = toRootMounts(table, setting.handles, { request, places });
  const writable = toPlaceMounts(table, places, setting.placeHandles);
  const closed = roots.filter(({ kind }) => kind === "hidden-folder");
  const open = roots.filter(({ kind }) => kind !== "hidden-folder");
  const system = findSystemView(roots);
  const secrets = findSecrets(homes, machine);
  const program = findProgram(name, path);
  const toolchains = findToolchainView({
    owner: machine,
    environment,
    path,
    homes,
    seen: [...system, ...roots],
    secrets,
    program,
  });
  const { before, hidden: inScopes } = setting;
  const targets = before.targets.flatMap(toMask);
  const layers = await toLayerMounts(table, inScopes.layers, keep);
  const masks = [...layers, ...before.entries.flatMap(toMask), ...targets, ...inScopes.masks];
  const services = request.rights === undefined ? [] : findServiceSettings(toolchains.map((mount) => mount.path));
  const hidden = hideSecrets([...secrets, ...services, ...inScopes.links], [...system, ...toolchains, ...roots]);
  // A mount of its own would show again what lies in a hidden folder.
  const git = setting.git?.mounts ?? [];
  const shown = [...masks, ...git].filter(({ path }) => !isWithinHidden(path, [...hidden, ...closed], open));
  // The later of two mounts at one path counts: a secret outranks a protected name; a scope's root was declared on purpose.
  const mounts = [...system, ...privately, ...toolchains, ...writable, ...shown, ...hidden, ...roots];
  const shut = [...hidden, ...roots.filter(({ kind }) => kind !== "writable")];
  // A folder `.git` that is moved would leave a free place for another one, as would one that a protected name leads to. In a folder of
  // dependencies nothing is hidden. A link in another folder leads elsewhere.
  const isHeld = ({ path, kind }: Mount) => kind !== "read-only" && !inScopes.pipes.has(path);
  const bareGits = inScopes.bareGits.filter((folder) => shown.some((mount) => isHeld(mount) && isWithin(mount.path, folder)));
  const inGit = (folder: string) => inScopes.gits.some((entry) => isWithin(folder, entry));
  const folders = [
    ...[...shut, ...targets].flatMap((mount) => foldersAbove(mount.path)),
    ...[...setting.gitFolders].flatMap((folder) => [folder, ...foldersAbove(folder)]),
    ...bareGits.flatMap(gitFoldersIn),
    ...[
      ...before.links,
      ...before.entries.filter((entry) => isFixed(table, entry) || setting.steering.closed.has(entry.hostPath)),
    ].flatMap(({ hostPath }) => foldersAbove(hostPath)),
    ...shown.flatMap((mount) => foldersAbove(mount.path).filter((folder) => isHeld(mount) || inGit(folder))),
  ];
  const pins = await pinFolders(table, { mounts, folders, places, keep });
  return [...mounts, ...pins];
}

/** A file of the program, by its place, and a file `.git`, which leads to a git directory by a path that can be relative. */
function isFixed(table: ScopeTable, { scope, components, facts }: ProtectedEntry): boolean {
  if (table.protection(scope, components) === "program") return true;
  return facts.type === "file" && foldName(components.at(-1) ?? "") === ".git";
}

/** False if a scope's root lies in between: that was declared on purpose. */
function isWithinHidden(path: string, hidden: readonly Mount[], roots: readonly Mount[]): boolean {
  const isMeant = (place: Mount) => roots.some((root) => isWithin(path, root.path) && isWithin(root.path, place.path));
  return hidden.some((place) => isWithin(path, place.path) && !isMeant(place));
}
