import { homedir } from "node:os";
import { basename, delimiter, relative, sep } from "node:path";
import { getOrMake } from "../../util/get-or-make.ts";
import { type CommandResult, type Commands, NotIsolated } from "../commands.ts";
import { scopeTable } from "../scopes/open-scopes.ts";
import { belowOpened, foldName } from "../scopes/protected-names.ts";
import type { ScopeTable } from "../scopes/scope-table.ts";
import { inFolder } from "../scopes/scope-walk.ts";
import type { Scopes } from "../scopes/scopes.ts";
import { findWall, type Wall } from "../wall/find-wall.ts";
import { readGitIdentity } from "../wall/git/git-identity.ts";
import { findGitFolders, type GitFolder } from "../wall/git/git-repositories.ts";
import { findSteering, noSteering } from "../wall/git/git-steering.ts";
import { findGitView } from "../wall/git/git-view.ts";
import { findHidden } from "../wall/hidden-entries.ts";
import { findProtected, type ProtectedEntry } from "../wall/protected-entries.ts";
import { isShown } from "../wall/scope-view.ts";
import { toolchainEnvironment } from "../wall/toolchain-view.ts";
import { tryLayers } from "../wall/try-layers.ts";
import { runWalled } from "../wall/walled-command.ts";
import { closePlaces, hostPathOf, openPlaces } from "../wall/write-places.ts";
import { runBare } from "./bare-command.ts";
import { assertRequest } from "./command-request.ts";
import type { CommandSetting, Machine } from "./command-setting.ts";
import { findLargeFiles } from "./large-files.ts";
import { type Ended, neverStarted } from "./launch.ts";
import { realPathOf } from "./look.ts";
import { findProgram, findProgramPath, findSystemProgram } from "./program-path.ts";
import { joinRestored, type RestoredNames, restoreLeft, runNoted } from "./restore-names.ts";
import { readNotes } from "./writing-notes.ts";

export function createNodeCommands(machine: Machine): Commands {
  const homes = [...new Set([machine.homeDirectory, homedir()])];
  const findPath = (table?: ScopeTable) => {
    const roots = table?.roots.filter((root) => root.declaration.mode === "rw") ?? [];
    const writable = roots.map((root) => root.realPath);
    return findProgramPath({ environment: machine.environment, homes, writable });
  };
  let shell: { readonly path: string | undefined } | undefined;
  const findShell = () => {
    const find = process.platform === "linux" ? findSystemProgram : findProgram;
    shell ??= { path: find("bash", ["/bin", "/usr/bin", ...findPath()]) };
    return shell.path;
  };
  const findIdentity = identityFinder(machine, homes);
  let found: Promise<Wall> | undefined;
  const wall = () => {
    found ??= machine.wall
      ? findWall(findPath(), findShell())
      : Promise.resolve({ type: "none", why: "isolation is turned off" });
    return found;
  };
  let tried: Promise<boolean> | undefined;
  const layers = async () => {
    const present = await wall();
    const shell = findShell();
    if (present.type !== "bubblewrap" || shell === undefined) return false;
    tried ??= tryLayers(present.bubblewrap, { shell, path: findPath(), stateDirectory: machine.stateDirectory });
    return tried;
  };
  return {
    layers,
    isolation: async () => {
      const present = await wall();
      return present.type === "none" ? present : { type: present.type };
    },
    which: async (name, scopes?: Scopes) => findProgram(name, findPath(scopes && (await scopeTable(scopes)))),
    run: async (request) => {
      assertRequest(request);
      request.signal.throwIfAborted();
      const table = await scopeTable(request.scopes);
      const path = findPath(table);
      const gitConfiguration = await findIdentity(table);
      const environment = { ...toolchainEnvironment(path, machine.homeDirectory), ...machine.environment };
      const found: Wall = request.unisolated ? { type: "none", why: "it is turned off for this command" } : await wall();
      const setting = { request, machine, table, homes, path, environment, shell: findShell(), gitConfiguration };
      return runGuarded(found, setting, request.rights === undefined || request.rights.scratch ? async () => false : layers);
    },
  };
}

/** This git runs outside the wall, so it must not come from a folder of a scope, whatever its rights. */
function identityFinder(machine: Machine, homes: readonly string[]): (table: ScopeTable) => Promise<string | undefined> {
  const identities = new Map<string, Promise<string | undefined>>();
  return ({ roots }) => {
    const scoped = roots.map((root) => root.realPath);
    const path = findProgramPath({ environment: machine.environment, homes, writable: scoped });
    return getOrMake(identities, path.join(delimiter), () => readGitIdentity(machine, path));
  };
}

/** A command of which nothing on the disk has been looked at. */
type Ready = Omit<CommandSetting, "before" | "hidden" | "gitFolders" | "steering" | "git" | "onWritten" | "places">;

/** Finds protected names before and after the command: new ones are moved aside, however it ended. */
async function runGuarded(wall: Wall, setting: Ready, hasLayers: () => Promise<boolean>): Promise<CommandResult> {
  const { request, table, machine } = setting;
  if (wall.type === "none" && request.isolationRequired) throw new NotIsolated(wall.why);
  const left = await restoreLeft(machine, table);
  const places = await openPlaces(table, request);
  const endWatch = machine.writes.watch();
  let ended: Ended;
  let restored: RestoredNames;
  let found: Survey;
  let thrownAway: readonly string[] | undefined;
  let tooLarge: readonly string[] = [];
  const began = Date.now();
  const onWritten = (paths: readonly string[]) => {
    thrownAway = paths.flatMap((path) => virtualPathOf(table, path) ?? []);
  };
  try {
    found = await survey(wall, setting, { places, hasLayers });
    const { walked, before, hidden, git, notes } = found;
    const { gitFolders, steering } = walked;
    const isOurs = ({ facts }: ProtectedEntry) => machine.writes.has(facts);
    const run = () => execute(wall, { ...setting, before, hidden, gitFolders, steering, git, onWritten, places });
    ({ ended, restored } = await runNoted(machine, { ...walked, before, isOurs, hiding: hidden.links, notes, run }));
    tooLarge = await findLargeFiles(table, places, began);
  } finally {
    endWatch();
    await closePlaces(places);
  }
  const names = joinRestored([left, restored]);
  const { unseen, git } = found;
  const result = toResult(ended, { isolated: wall.type !== "none", ...names, ...unseen, git, thrownAway, tooLarge });
  if (!ended.aborted) return result;
  request.onInterrupted?.(result);
  throw request.signal.reason;
}

type Survey = Awaited<ReturnType<typeof survey>>;

interface Surveying extends Pick<CommandSetting, "places"> {
  readonly hasLayers: () => Promise<boolean>;
}

/** Looks for what the command must not change or see. The caller closes the handles of `before`. */
async function survey(wall: Wall, setting: Ready, { places, hasLayers }: Surveying) {
  const { table, machine, request } = setting;
  const { hidesCredentials = false, signal } = request;
  const unprotected: ReadonlySet<string> = new Set(request.unprotected?.map(foldName));
  const openHandles = wall.type !== "none";
  const roots = openHandles ? table.roots.filter(({ declaration }) => isShown(declaration, { request })) : [];
  const notes = [...readNotes(machine, table)];
  const found = await findHidden({ table, roots, unprotected, hidesCredentials, places, hasLayers, signal });
  const repositories = findGitFolders(found.gits);
  const gitFolders = otherNames(repositories);
  const seen = [...repositories, ...findGitFolders(found.bareGits)];
  const isClosed = !unprotected.has(".git/config");
  const protectedLinks = found.otherLinks.filter(({ scope, components }) => {
    const closed = belowOpened(unprotected, components);
    return closed.length > 0 && table.protection(scope, closed) !== undefined;
  });
  const led = isClosed ? { entries: found.gits, folders: seen } : { entries: [], folders: [] };
  const links = protectedLinks.map((link) => hostPathOf(table, link));
  const steering = places.length > 0 ? findSteering({ ...led, links, user: machine }) : noSteering;
  const walked = { table, unprotected, places, followsLinks: true, gitFolders, steering };
  const before = await findProtected({ ...walked, hidesCredentials, signal, openHandles });
  const locked = found.locked.length > 0 ? found.locked : undefined;
  const unseen = { tooDeep: [...new Set([...found.tooDeep, ...before.tooDeep])], locked };
  notes.push(...readNotes(machine, table));
  const hiding = [...found.links.flatMap((link) => realPathOf(link) ?? []), ...notes.flatMap((note) => note.hiding)];
  const git = wall.type === "none" ? undefined : viewGit(setting, seen, unprotected);
  return { walked, before, notes, hidden: { ...found, links: hiding }, git, unseen };
}

/** Git directories that no name `.git` protects, since a file or a link leads to them, and those of submodules. */
function otherNames(folders: readonly GitFolder[]): ReadonlySet<string> {
  const paths = folders.flatMap(({ path, common }) => [...(isInGit(path) ? [] : [path]), common]);
  return new Set(paths.filter((path) => foldName(basename(path)) !== ".git"));
}

function isInGit(path: string): boolean {
  return path.split(sep).some((name) => foldName(name) === ".git");
}

/** Commands without rights of their own see git's files as they are. */
function viewGit({ request, table }: Ready, folders: readonly GitFolder[], opened: ReadonlySet<string>) {
  if (request.rights === undefined || folders.length === 0) return undefined;
  const roots = table.roots.map(({ declaration, realPath }) => ({ path: realPath, isShown: isShown(declaration, { request }) }));
  return findGitView({ folders, opened, roots, isHistoryOpen: request.rights.reads.includes(".git") });
}

async function execute(wall: Wall, setting: CommandSetting): Promise<Ended> {
  const { request, table, path, shell } = setting;
  const [program] = request.command.type === "argv" ? request.command.argv : [shell];
  const isBare = program !== undefined && !/[/\\]/.test(program);
  return inFolder(table, request.cwd, async (folder) => {
    if (program === undefined) return notFound("bash");
    if (isBare && findProgram(program, path) === undefined) return notFound(program);
    return wall.type === "none" ? runBare(setting, folder) : runWalled(wall, setting, folder);
  });
}

/** The path of the tools, by the deepest root. */
function virtualPathOf(table: ScopeTable, path: string): string | undefined {
  const root = table.rootAround(path);
  if (root === undefined) return undefined;
  return table.format(
    root.declaration,
    relative(root.realPath, path)
      .split(sep)
      .filter((name) => name !== ""),
  );
}

function notFound(program: string): Ended {
  return neverStarted(`llm-do: ${program}: command not found\n`, { exitCode: 127, failure: "ENOENT" });
}

function toResult(
  ended: Ended,
  {
    git,
    ...more
  }: RestoredNames &
    Pick<CommandResult, "isolated" | "tooDeep" | "locked" | "thrownAway" | "tooLarge"> &
    Pick<CommandSetting, "git">,
): CommandResult {
  return {
    exitCode: ended.exitCode,
    stdout: ended.stdout.text,
    stderr: ended.stderr.text,
    dropped: { stdout: ended.stdout.dropped, stderr: ended.stderr.dropped },
    timedOut: ended.timedOut,
    ...more,
    ...(git && { git: { leftOut: git.leftOut, withoutObjects: git.withoutObjects } }),
  };
}
