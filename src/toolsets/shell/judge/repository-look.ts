import { dirname, isAbsolute, join, relative, sep } from "node:path";
import type { DirectoryEntry } from "../../../host/directory.ts";
import { foldName } from "../../../host/protected-names.ts";
import { findFoldersWith, lookIntoFile, lookIntoFolder } from "../../../host/scope-look.ts";
import { ScopeError, type Scopes } from "../../../host/scopes.ts";
import { sha256 } from "../../../util/sha256.ts";
import { type GitConfig, readGitConfig } from "./git-config.ts";
import { readGitlinks } from "./git-index.ts";
import type { KnownConfigs } from "./git-remotes.ts";

/** Of repositories in repositories: one with more of them asks. */
const mostRepositories = 50;
/** Of a configuration, or a file that names a folder; git's own are smaller. */
const maxConfigurationBytes = 200_000;
const maxIndexBytes = 64_000_000;
/** Of a work tree that is looked through for repositories in it. */
const mostFolders = 20_000;

export interface LookOptions {
  /** A wall hides what lies outside of the scopes: git cannot enter it. */
  readonly isWalled: boolean;
  /** Also repositories that no index names yet: git may add one, or check out what names it. */
  readonly everywhere: boolean;
  /** Words by which git could find another repository; undefined where it looks for none. */
  readonly remotes: readonly string[] | undefined;
}

/** What git would obey in a folder, as far as nothing asks. */
export interface RepositoryLook {
  /** Why git cannot just run here. */
  readonly why: string | undefined;
  /** Digest of the file that `why` is about, where its words do not say all that git would obey. */
  readonly basis?: string | undefined;
  readonly configs: KnownConfigs;
  /** Of the words that were asked about, those that name something that is there. */
  readonly there: ReadonlySet<string>;
}

/**
 * The repository that git finds from a folder upwards, and each that it can enter from there: submodules by the index (whatever
 * `.gitmodules` says), those that are kept in `.git/modules`, and what they hold in turn. Paths are those of the host. Reads files
 * and starts nothing: git's own answer would cost a process behind the wall for each repository and each verdict.
 */
export async function lookAtRepository(scopes: Scopes, folder: string, options: LookOptions): Promise<RepositoryLook> {
  const look = new Look(scopes, options);
  const { configs, there } = look;
  try {
    const top = await look.findTop(folder);
    for (const word of options.remotes ?? []) await look.word(word, [folder, ...(top === undefined ? [] : [top])]);
    if (top !== undefined) await look.workTree(top, "its repository");
    if (top !== undefined && options.everywhere) await look.everythingIn(top);
    return { why: undefined, configs, there };
  } catch (thrown) {
    if (!(thrown instanceof Finding)) throw thrown;
    return { why: thrown.message, basis: thrown.basis, configs, there };
  }
}

/** Ends a look: one reason to ask is enough. */
class Finding extends Error {
  readonly basis: string | undefined;

  constructor(message: string, basis?: string) {
    super(message);
    this.basis = basis;
  }
}

class Look {
  readonly configs: { readonly own: GitConfig[]; readonly nested: GitConfig[] } = { own: [], nested: [] };
  readonly there = new Set<string>();
  readonly #scopes: Scopes;
  readonly #options: LookOptions;
  readonly #seen = new Set<string>();
  #isNested = false;

  constructor(scopes: Scopes, options: LookOptions) {
    this.#scopes = scopes;
    this.#options = options;
  }

  /** The folder whose `.git` git takes. One that is no repository is passed over by git, which looks around it. */
  async findTop(folder: string): Promise<string | undefined> {
    let doubtful: string | undefined;
    for (let at = folder; ; at = dirname(at)) {
      const git = this.#pathOf(join(at, ".git"));
      if (git === undefined && this.#options.isWalled) return doubtful;
      if (git === undefined)
        throw new Finding("its repository lies around the scopes, and the configuration there was not looked at");
      const type = await this.#typeOf(git);
      if (type !== "missing" && doubtful !== undefined)
        throw new Finding("a `.git` on the way to its repository may be none, and git may take either");
      if (type !== "missing" && (type !== "directory" || (await this.#isRepository(join(at, ".git"))))) return at;
      if (type !== "missing") doubtful = at;
      if (dirname(at) === at) return doubtful;
    }
  }

  /** Whether git surely takes a folder for a repository. */
  async #isRepository(folder: string): Promise<boolean> {
    const entries = await this.#entriesIn(folder, "its repository");
    const has = (name: string, type: string) => entries.some((entry) => entry.name === name && entry.type === type);
    if (!has("HEAD", "file") || !has("objects", "directory") || !has("refs", "directory")) return false;
    const head = await this.#read(join(folder, "HEAD"), { maxBytes: maxConfigurationBytes, what: "its repository" });
    return /^(?:ref: refs\/\S+|[\da-f]{40}|[\da-f]{64})\s*$/.test(new TextDecoder().decode(head));
  }

  /** git completes the name of a repository, and starts from the top of its own. */
  async word(word: string, folders: readonly string[]): Promise<void> {
    for (const folder of folders) {
      for (const name of [word, `${word}.git`, `${word}.bundle`]) {
        const path = this.#pathOf(join(folder, name));
        if (path !== undefined && (await this.#typeOf(path)) !== "missing") this.there.add(word);
      }
    }
  }

  /** `name`: of the repository, for people. */
  async workTree(top: string, name: string): Promise<void> {
    const entry = join(top, ".git");
    const path = this.#pathOf(entry);
    if (path === undefined) return this.#unseen(name);
    const type = await this.#typeOf(path);
    if (type === "missing") return;
    const folder = type === "file" ? await this.#followed(entry, { from: top, name }) : entry;
    if (type === "other") throw elsewhere(name);
    await this.#gitFolder(folder, { top, name });
  }

  async #gitFolder(folder: string, { top, name }: { readonly top: string | undefined; readonly name: string }): Promise<void> {
    const key = `${folder}\0${top ?? ""}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (this.#seen.size > mostRepositories) throw new Finding(`it has more than ${mostRepositories} repositories in it`);
    const own = await this.#namesIn(folder, name);
    const common = own.has("commondir") ? await this.#followed(join(folder, "commondir"), { from: folder, name }) : folder;
    const shared = common === folder ? own : await this.#namesIn(common, name);
    const main = shared.has("config") ? [await this.#config(join(common, "config"), name)] : [];
    const configs = [...main, ...(own.has("config.worktree") ? [await this.#config(join(folder, "config.worktree"), name)] : [])];
    (this.#isNested ? this.configs.nested : this.configs.own).push(...configs);
    this.#isNested = true;
    // Which of them counts depends on the repository's format, so each has to be the one.
    const trees = configs.flatMap((config) => valuesOf(config, "core", "worktree"));
    if (top !== undefined && trees.some((tree) => resolvePath(folder, tree) !== top))
      throw new Finding(`the work tree of ${name} is elsewhere, and what lies there was not looked at`);
    if (this.#options.remotes !== undefined) await this.#legacyRemotes(common, { names: shared, name });
    if (top !== undefined && own.has("index")) {
      // git takes no format from the configuration of a work tree.
      const format = main.flatMap((config) => valuesOf(config, "extensions", "objectformat")).at(-1);
      const hashBytes = format?.toLowerCase() === "sha256" ? 32 : 20;
      await this.#links(join(folder, "index"), { top, name, hashBytes });
    }
    if (own.has("rebase-merge") && this.#options.everywhere) await this.#rebase(join(folder, "rebase-merge"), name);
    if (shared.has("modules")) await this.#modules(join(common, "modules"));
  }

  /** `git rebase --continue` runs what stands in the list of a rebase that was begun. */
  async #rebase(folder: string, name: string): Promise<void> {
    const entries = await this.#entriesIn(folder, name);
    if (!entries.some((entry) => entry.name === "git-rebase-todo")) return;
    const list = await this.#read(join(folder, "git-rebase-todo"), {
      maxBytes: maxConfigurationBytes,
      what: `the rebase of ${name}`,
    });
    if (/^\s*(?:x|exec)\s/m.test(new TextDecoder().decode(list)))
      throw new Finding(`the rebase of ${name} has commands that it runs`, sha256(list));
  }

  /** Names of submodules are paths, so a folder can be a repository or hold some. */
  async #modules(folder: string): Promise<void> {
    for (const { name, type } of await this.#entriesIn(folder, "a submodule")) {
      const inner = join(folder, name);
      if (type === "link") throw elsewhere(`the submodule \`${name}\``);
      if (type !== "directory") continue;
      const names = await this.#namesIn(inner, `the submodule \`${name}\``);
      const isRepository = ["head", "config", "commondir"].some((one) => names.has(one));
      if (isRepository) await this.#gitFolder(inner, { top: undefined, name: `the submodule \`${name}\`` });
      else await this.#modules(inner);
    }
  }

  async everythingIn(top: string): Promise<void> {
    const path = this.#required(top, "its repository");
    const isMeant = (name: string) => foldName(name) === ".git";
    const { folders, isComplete } = await findFoldersWith(this.#scopes, path, { isMeant, maxFolders: mostFolders });
    if (!isComplete) throw new Finding(`its work tree has more than ${mostFolders} folders, which may hold repositories`);
    for (const found of folders) {
      const { scope, components } = this.#scopes.resolve(found);
      await this.workTree(join(scope.root, ...components), `the repository in \`${found}\``);
    }
  }

  /** Where addresses of remotes stood before there was a configuration. git still reads them, a file each. */
  async #legacyRemotes(
    common: string,
    { names, name }: { readonly names: ReadonlySet<string>; readonly name: string },
  ): Promise<void> {
    for (const kind of ["remotes", "branches"].filter((one) => names.has(one))) {
      if ((await this.#namesIn(join(common, kind), name)).size > 0)
        throw new Finding(`${name} has remotes in \`.git/${kind}\`, which were not looked at`);
    }
  }

  async #config(file: string, name: string): Promise<GitConfig> {
    const text = await this.#read(file, { maxBytes: maxConfigurationBytes, what: `the configuration of ${name}` });
    const config = readGitConfig(new TextDecoder().decode(text));
    if (config.helper === undefined) return config;
    throw new Finding(`the configuration of ${name} has \`${config.helper}\`, with which it can run programs`, sha256(text));
  }

  /** Submodules as the index names them. */
  async #links(
    file: string,
    { top, name, hashBytes }: { readonly top: string; readonly name: string; readonly hashBytes: number },
  ): Promise<void> {
    const bytes = await this.#read(file, { maxBytes: maxIndexBytes, what: `the index of ${name}` });
    const { paths, unknown } = readGitlinks(bytes, hashBytes);
    if (unknown !== undefined) throw new Finding(`the submodules of ${name} are not known: ${unknown}`);
    for (const link of paths) {
      if (link.split("/").some((part) => part === "" || part === "." || part === ".."))
        throw new Finding(`the index of ${name} names a path that is none`);
      await this.workTree(join(top, link), `the repository in \`${link}\``);
    }
  }

  /** The folder that a file (`.git`, `commondir`) names, relative to the one that it stands for. */
  async #followed(file: string, { from, name }: { readonly from: string; readonly name: string }): Promise<string> {
    const bytes = await this.#read(file, { maxBytes: maxConfigurationBytes, what: `the configuration of ${name}` });
    const target = new TextDecoder()
      .decode(bytes)
      .replace(/^gitdir: /, "")
      .replace(/[\r\n]+$/, "");
    const folder = resolvePath(from, target);
    const path = folder === undefined ? undefined : this.#pathOf(folder);
    if (folder === undefined || path === undefined || (await this.#typeOf(path)) !== "directory") throw elsewhere(name);
    return folder;
  }

  async #read(file: string, { maxBytes, what }: { readonly maxBytes: number; readonly what: string }): Promise<Uint8Array> {
    const path = this.#required(file, what);
    const { bytes, facts } = await this.#looking(what, () => lookIntoFile(this.#scopes, path, maxBytes));
    if (facts.bytes > maxBytes) throw new Finding(`${what} is too long to be looked at`);
    return bytes;
  }

  /** In the one form of all spellings that some file system takes for the same name. */
  async #namesIn(folder: string, name: string): Promise<ReadonlySet<string>> {
    return new Set((await this.#entriesIn(folder, name)).map((entry) => foldName(entry.name)));
  }

  async #entriesIn(folder: string, name: string): Promise<readonly DirectoryEntry[]> {
    const path = this.#required(folder, name);
    return this.#looking(name, () => lookIntoFolder(this.#scopes, path));
  }

  async #looking<T>(what: string, look: () => Promise<T>): Promise<T> {
    try {
      return await look();
    } catch (error) {
      if (error instanceof ScopeError) throw new Finding(`${what} cannot be looked at`);
      throw error;
    }
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

  #unseen(name: string): void {
    if (!this.#options.isWalled) throw elsewhere(name);
  }

  /** In the deepest scope that holds it; undefined where none does. */
  #pathOf(path: string): string | undefined {
    const paths = this.#scopes.declarations.flatMap(({ name, root }) => {
      const below = relative(root, path);
      return below.split(sep)[0] === ".." || isAbsolute(below)
        ? []
        : [{ path: `${name}:${below.split(sep).join("/")}`, length: root.length }];
    });
    return paths.toSorted((a, b) => b.length - a.length)[0]?.path;
  }
}

function valuesOf({ settings }: GitConfig, section: string, key: string): readonly string[] {
  return settings.filter((one) => one.section === section && one.key === key).map(({ value = "" }) => value);
}

function elsewhere(name: string): Finding {
  return new Finding(`${name} lies elsewhere, and the configuration there was not looked at`);
}

/** Undefined where a name before a `..` could be a link. */
function resolvePath(from: string, path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const lastUp = parts.lastIndexOf("..");
  if (path === "" || parts.slice(0, lastUp + 1).some((part) => part !== "..")) return undefined;
  return isAbsolute(path) ? join(path) : join(from, path);
}
