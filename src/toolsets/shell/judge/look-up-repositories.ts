import { dirname, isAbsolute, join, relative, sep } from "node:path";
import type { DirectoryEntry } from "../../../host/directory.ts";
import { foldName } from "../../../host/protected-names.ts";
import { findFoldersWith, lookIntoFile, lookIntoFolder } from "../../../host/scope-look.ts";
import { type ResolvedPath, type ScopeDeclaration, ScopeError, type Scopes } from "../../../host/scopes.ts";
import { sha256 } from "../../../util/sha256.ts";
import type { ShellPlan } from "../parse/plan.ts";
import { findGitUse } from "./git-commands.ts";
import { type GitConfig, readGitConfig } from "./git-config.ts";
import { readGitlinks } from "./git-index.ts";
import { judgeRemotes } from "./git-remotes.ts";
import { asks, type Reason } from "./reasons.ts";

/** Limit of repositories in repositories: one with more of them asks. */
const mostRepositories = 50;
/** Limit of a configuration, or a file that names a folder. git's own are smaller. */
const maxConfigurationBytes = 200_000;
const maxIndexBytes = 64_000_000;
/** Limit of a work tree that is looked through for repositories in it. */
const mostFolders = 20_000;

/**
 * Why git cannot just run here: what lies in its repository, or in one that it can enter from there, names programs that it would
 * start even where it only looks. Reads files and starts nothing: git's own answer would cost a process behind the wall for each
 * repository and each verdict. `isWalled`: commands see nothing outside of the scopes.
 */
export async function lookUpRepositories(
  scopes: Scopes,
  base: ResolvedPath,
  { plan, isWalled }: { readonly plan: ShellPlan; readonly isWalled: boolean },
): Promise<readonly Reason[]> {
  const use = findGitUse(plan);
  if (use === undefined) return [];
  const { transports, copier } = use;
  const remotes = transports.length > 0 ? transports.flatMap(({ named }) => named) : undefined;
  const asking = scopes.declarations.filter(
    ({ name, readApproval, writeApproval }) =>
      name !== base.scope.name &&
      ((use.tree !== "none" && readApproval === true) || (use.tree === "write" && writeApproval === true)),
  );
  const options = { isWalled, everywhere: use.changes, remotes, asking };
  const reasonsIn = async (folder: string): Promise<readonly Reason[]> => {
    const look = new Look(scopes, options);
    const doubt = await look.run(folder);
    if (doubt !== undefined) return [{ ...asks(`git: ${doubt.message}`), ...(doubt.basis && { basis: doubt.basis }) }];
    // Another command of the line could put a repository there that does not exist yet.
    const couldBePath = (word: string) => word.includes("/") || look.there.has(word) || plan.commands.length > 1;
    return transports
      .flatMap((transport) => judgeRemotes(transport, { configs: look.configs, couldBePath }) ?? [])
      .map((remote) => asks(`git: ${remote}`));
  };
  const found = await Promise.all(use.folders.map((folder) => reasonsIn(join(base.scope.root, ...folder))));
  const copies = copier === undefined ? [] : [asks(`git: \`${copier}\` could bring a repository along unseen; run them apart`)];
  return [...new Map([...found.flat(), ...copies].map((reason) => [`${reason.why} ${reason.basis}`, reason])).values()];
}

interface LookOptions {
  /** A wall hides what lies outside of the scopes: git cannot enter it. */
  readonly isWalled: boolean;
  /** Also repositories that no index names yet: git may add one, or check out what names it. */
  readonly everywhere: boolean;
  /** Words by which git could find another repository. Undefined where it looks for none. */
  readonly remotes: readonly string[] | undefined;
  /** Scopes that git may not go through unasked. */
  readonly asking: readonly ScopeDeclaration[];
}

/** Ends a look: one reason to ask is enough. `basis`: digest of the file that it is about, where the message does not say it all. */
class Doubt extends Error {
  readonly basis: string | undefined;

  constructor(message: string, basis?: string) {
    super(message);
    this.basis = basis;
  }
}

/**
 * One look at the repository that git finds from a folder upwards, and at each that it can enter from there: submodules by the index
 * (whatever `.gitmodules` says), those that are kept in `.git/modules`, and what they hold in turn. Paths are those of the host.
 */
class Look {
  /** The configurations of the repository itself, and of those in it. */
  readonly configs: { readonly own: GitConfig[]; readonly nested: GitConfig[] } = { own: [], nested: [] };
  /** Words that could be repositories, and name something that exists. */
  readonly there = new Set<string>();
  readonly #scopes: Scopes;
  readonly #options: LookOptions;
  readonly #seen = new Set<string>();

  constructor(scopes: Scopes, options: LookOptions) {
    this.#scopes = scopes;
    this.#options = options;
  }

  async run(folder: string): Promise<Doubt | undefined> {
    try {
      const top = await this.#findTop(folder);
      for (const word of this.#options.remotes ?? []) await this.#word(word, [folder, ...(top === undefined ? [] : [top])]);
      if (top !== undefined) await this.#workTree(top, "its repository");
      if (top !== undefined && this.#options.everywhere) await this.#everythingIn(top);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof Doubt) return thrown;
      throw thrown;
    }
  }

  /** The folder whose `.git` git takes. git passes over one that is no repository, and looks around it. */
  async #findTop(folder: string): Promise<string | undefined> {
    let doubtful: string | undefined;
    for (let at = folder; ; at = dirname(at)) {
      const git = this.#pathOf(join(at, ".git"));
      if (git === undefined && this.#options.isWalled) return doubtful;
      if (git === undefined)
        throw new Doubt("its repository lies around the scopes, and the configuration there was not looked at");
      const type = await this.#typeOf(git);
      if (type !== "missing" && doubtful !== undefined)
        throw new Doubt("a `.git` on the way to its repository may be none, and git may take either");
      if (type !== "missing" && (type !== "directory" || (await this.#isRepository(join(at, ".git"))))) return at;
      if (type !== "missing") doubtful = at;
      if (dirname(at) === at) return doubtful;
    }
  }

  /** True where git surely takes a folder for a repository. */
  async #isRepository(folder: string): Promise<boolean> {
    const entries = await this.#entriesIn(folder, "its repository");
    const has = (name: string, type: string) => entries.some((entry) => entry.name === name && entry.type === type);
    if (!has("HEAD", "file") || !has("objects", "directory") || !has("refs", "directory")) return false;
    const { text } = await this.#read(join(folder, "HEAD"), "its repository");
    return /^(?:ref: refs\/\S+|[\da-f]{40}|[\da-f]{64})\s*$/.test(text);
  }

  /** git completes the name of a repository, and starts from the top of its own. */
  async #word(word: string, folders: readonly string[]): Promise<void> {
    for (const path of folders.flatMap((folder) => ["", ".git", ".bundle"].map((end) => join(folder, `${word}${end}`)))) {
      const virtual = this.#pathOf(path);
      if (virtual !== undefined && (await this.#typeOf(virtual)) !== "missing") this.there.add(word);
    }
  }

  /** `name`: of the repository, for people. */
  async #workTree(top: string, name: string): Promise<void> {
    const entry = join(top, ".git");
    const path = this.#pathOf(entry);
    if (path === undefined && this.#options.isWalled) return;
    if (path === undefined) throw elsewhere(name);
    const type = await this.#typeOf(path);
    if (type === "missing") return;
    if (type === "other") throw elsewhere(name);
    await this.#gitFolder(type === "file" ? await this.#followed(entry, top, name) : entry, top, name);
  }

  async #gitFolder(folder: string, top: string | undefined, name: string): Promise<void> {
    const key = `${folder}\0${top ?? ""}`;
    if (this.#seen.has(key)) return;
    const target = this.#seen.size === 0 ? this.configs.own : this.configs.nested;
    this.#seen.add(key);
    if (this.#seen.size > mostRepositories) throw new Doubt(`it has more than ${mostRepositories} repositories in it`);
    const own = await this.#namesIn(folder, name);
    const common = own.has("commondir") ? await this.#followed(join(folder, "commondir"), folder, name) : folder;
    const shared = common === folder ? own : await this.#namesIn(common, name);
    const main = shared.has("config") ? [await this.#config(join(common, "config"), name)] : [];
    const configs = [...main, ...(own.has("config.worktree") ? [await this.#config(join(folder, "config.worktree"), name)] : [])];
    target.push(...configs);
    // The repository's format decides which of them counts, so each has to name this folder.
    const trees = configs.flatMap((config) => valuesOf(config, "core", "worktree"));
    if (top !== undefined && trees.some((tree) => resolvePath(folder, tree) !== top))
      throw new Doubt(`the work tree of ${name} is elsewhere, and what lies there was not looked at`);
    if (this.#options.remotes !== undefined) await this.#legacyRemotes(common, shared, name);
    if (top !== undefined && own.has("index")) {
      // git takes no format from the configuration of a work tree.
      const format = main.flatMap((config) => valuesOf(config, "extensions", "objectformat")).at(-1);
      const links = await this.#links(join(folder, "index"), {
        name,
        top,
        hashBytes: format?.toLowerCase() === "sha256" ? 32 : 20,
      });
      for (const link of links) await this.#workTree(join(top, link), `the repository in \`${link}\``);
    }
    if (own.has("rebase-merge") && this.#options.everywhere) await this.#rebase(join(folder, "rebase-merge"), name);
    if (shared.has("modules")) await this.#modules(join(common, "modules"));
  }

  /** `git rebase --continue` runs what stands in the list of a rebase that was begun. */
  async #rebase(folder: string, name: string): Promise<void> {
    const entries = await this.#entriesIn(folder, name);
    if (!entries.some((entry) => entry.name === "git-rebase-todo")) return;
    const { bytes, text } = await this.#read(join(folder, "git-rebase-todo"), `the rebase of ${name}`);
    if (/^\s*(?:x|exec)\s/m.test(text)) throw new Doubt(`the rebase of ${name} has commands that it runs`, sha256(bytes));
  }

  /** Names of submodules are paths, so a folder can be a repository or hold some. */
  async #modules(folder: string): Promise<void> {
    for (const { name, type } of await this.#entriesIn(folder, "a submodule")) {
      const inner = join(folder, name);
      const submodule = `the submodule \`${name}\``;
      if (type === "link") throw elsewhere(submodule);
      if (type !== "directory") continue;
      const names = await this.#namesIn(inner, submodule);
      const isRepository = ["head", "config", "commondir"].some((one) => names.has(one));
      await (isRepository ? this.#gitFolder(inner, undefined, submodule) : this.#modules(inner));
    }
  }

  async #everythingIn(top: string): Promise<void> {
    const isMeant = (name: string) => foldName(name) === ".git";
    const path = this.#required(top, "its repository");
    const { folders, isComplete } = await findFoldersWith(this.#scopes, path, { isMeant, maxFolders: mostFolders });
    if (!isComplete) throw new Doubt(`its work tree has more than ${mostFolders} folders, which may hold repositories`);
    for (const found of folders) {
      const { scope, components } = this.#scopes.resolve(found);
      await this.#workTree(join(scope.root, ...components), `the repository in \`${found}\``);
    }
  }

  /** Remotes in files of their own, from before there was a configuration. git still reads them. */
  async #legacyRemotes(common: string, names: ReadonlySet<string>, name: string): Promise<void> {
    for (const kind of ["remotes", "branches"].filter((one) => names.has(one))) {
      if ((await this.#namesIn(join(common, kind), name)).size > 0)
        throw new Doubt(`${name} has remotes in \`.git/${kind}\`, which were not looked at`);
    }
  }

  async #config(file: string, name: string): Promise<GitConfig> {
    const { bytes, text } = await this.#read(file, `the configuration of ${name}`);
    const config = readGitConfig(text);
    if (config.helper === undefined) return config;
    throw new Doubt(`the configuration of ${name} has \`${config.helper}\`, with which it can run programs`, sha256(bytes));
  }

  /** Paths of submodules as the index names them. Hidden or read-only, files of a scope that asks would be removed ones to git. */
  async #links(file: string, { name, top, hashBytes }: IndexOf): Promise<readonly string[]> {
    const { bytes } = await this.#read(file, `the index of ${name}`, maxIndexBytes);
    const asking = this.#options.asking.flatMap((scope) => {
      const folder = relative(top, scope.root).split(sep).join("/");
      return isPath(folder) && !isAbsolute(folder) ? [{ scope, folder }] : [];
    });
    const { paths, holds, unknown } = readGitlinks(bytes, { hashBytes, folders: asking.map(({ folder }) => folder) });
    if (unknown !== undefined) throw new Doubt(`the submodules of ${name} are not known: ${unknown}`);
    const [found] = asking.filter(({ folder }) => holds.has(folder));
    if (found) throw new Doubt(`${name} has files in the scope ${found.scope.name}, which asks before they are used`);
    if (!paths.every(isPath)) throw new Doubt(`the index of ${name} names a path that is none`);
    return paths;
  }

  /** The folder that a file (`.git`, `commondir`) names, relative to the one that it stands for. */
  async #followed(file: string, from: string, name: string): Promise<string> {
    const { text } = await this.#read(file, `the configuration of ${name}`);
    const folder = resolvePath(from, text.replace(/^gitdir: /, "").replace(/[\r\n]+$/, ""));
    const path = folder === undefined ? undefined : this.#pathOf(folder);
    if (folder === undefined || path === undefined || (await this.#typeOf(path)) !== "directory") throw elsewhere(name);
    return folder;
  }

  async #read(file: string, what: string, maxBytes = maxConfigurationBytes) {
    const path = this.#required(file, what);
    const { bytes, facts } = await looking(what, () => lookIntoFile(this.#scopes, path, maxBytes));
    if (facts.bytes > maxBytes) throw new Doubt(`${what} is too long to be looked at`);
    return {
      bytes,
      get text() {
        return new TextDecoder().decode(bytes);
      },
    };
  }

  /** Names in one form for all spellings that some file system takes for the same name. */
  async #namesIn(folder: string, name: string): Promise<ReadonlySet<string>> {
    return new Set((await this.#entriesIn(folder, name)).map((entry) => foldName(entry.name)));
  }

  async #entriesIn(folder: string, name: string): Promise<readonly DirectoryEntry[]> {
    const path = this.#required(folder, name);
    return looking(name, () => lookIntoFolder(this.#scopes, path));
  }

  async #typeOf(path: string): Promise<"file" | "directory" | "missing" | "other"> {
    try {
      return (await this.#scopes.facts(path)).type;
    } catch (error) {
      if (!(error instanceof ScopeError)) throw error;
      return error.type === "not_found" || error.type === "not_a_directory" ? "missing" : "other";
    }
  }

  #required(path: string, name: string): string {
    const virtual = this.#pathOf(path);
    if (virtual === undefined) throw elsewhere(name);
    return virtual;
  }

  /** The virtual path in the deepest scope that holds it. Undefined where none does. */
  #pathOf(path: string): string | undefined {
    const paths = this.#scopes.declarations.flatMap(({ name, root }) => {
      const below = relative(root, path);
      const isOutside = below.split(sep)[0] === ".." || isAbsolute(below);
      return isOutside ? [] : [{ path: `${name}:${below.split(sep).join("/")}`, length: root.length }];
    });
    return paths.toSorted((a, b) => b.length - a.length)[0]?.path;
  }
}

interface IndexOf {
  /** The repository's, for people. */
  readonly name: string;
  readonly top: string;
  readonly hashBytes: number;
}

/** True for a path that leads down. */
function isPath(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

async function looking<T>(what: string, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof ScopeError) throw new Doubt(`${what} cannot be looked at`);
    throw error;
  }
}

function valuesOf({ settings }: GitConfig, section: string, key: string): readonly string[] {
  return settings.filter((one) => one.section === section && one.key === key).map(({ value = "" }) => value);
}

function elsewhere(name: string): Doubt {
  return new Doubt(`${name} lies elsewhere, and the configuration there was not looked at`);
}

/** Undefined where a name before a `..` could be a link. */
function resolvePath(from: string, path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const lastUp = parts.lastIndexOf("..");
  if (path === "" || parts.slice(0, lastUp + 1).some((part) => part !== "..")) return undefined;
  return isAbsolute(path) ? join(path) : join(from, path);
}
