import { type ResolvedPath, ScopeError, type Scopes } from "../../../host/scopes.ts";
import { enter } from "../parse/folders.ts";
import type { Folder, ShellPlan, SimpleCommand } from "../parse/plan.ts";
import { baseName } from "../parse/scripts.ts";
import { findGitHelper } from "./git-config.ts";
import { asks, type Reason } from "./reasons.ts";

/** Of submodules: a repository with more of them asks. */
const mostSubmodules = 50;
/** Of a configuration; git's own are smaller. */
const maxConfigurationBytes = 200_000;

/**
 * Why git cannot just run here: the configuration of its repository names programs that it would start even where it only
 * looks. Reads the configuration of each repository that a command line could be about; starts nothing.
 */
export async function lookUpRepositories(scopes: Scopes, base: ResolvedPath, plan: ShellPlan): Promise<readonly Reason[]> {
  const folders = new Map<string, Folder>();
  gather(plan, folders);
  const looking = new Repositories(scopes, base);
  const found = await Promise.all([...folders.values()].map((folder) => looking.look(folder)));
  return [...new Set(found)].filter((why) => why !== undefined).map((why) => asks(`git: ${why}`));
}

function gather(plan: ShellPlan, folders: Map<string, Folder>): void {
  for (const command of plan.commands) {
    for (const folder of foldersOfGit(command)) folders.set(folder.join("/"), folder);
    for (const { script } of command.words) if (script !== undefined) gather(script, folders);
  }
}

/** Where git could run: also behind `timeout` and the like, and where `-C` leads. */
function foldersOfGit({ words, folders = [] }: SimpleCommand): readonly Folder[] {
  if (!words.some(({ value }) => /^git(?:\.exe)?$/i.test(baseName(value)))) return [];
  const moved = words.flatMap(({ value }, index) => {
    const target = value === "-C" ? words[index + 1]?.value : undefined;
    return target === undefined ? [] : folders.map((folder) => enter(folder, target)).filter((folder) => folder !== undefined);
  });
  return [...folders, ...moved];
}

class Repositories {
  readonly #scopes: Scopes;
  readonly #base: ResolvedPath;

  constructor(scopes: Scopes, base: ResolvedPath) {
    this.#scopes = scopes;
    this.#base = base;
  }

  /** The repository that git finds from a folder upwards, with its submodules. */
  async look(folder: Folder): Promise<string | undefined> {
    for (let length = folder.length; length >= 0; length--) {
      const git = [...folder.slice(0, length), ".git"];
      const type = await this.#typeOf(git);
      if (type === undefined) continue;
      if (type !== "directory") return "its repository lies elsewhere, and the configuration there was not looked at";
      return (await this.#judge([...git, "config"])) ?? (await this.#judgeSubmodules([...git, "modules"]));
    }
    return undefined;
  }

  async #judgeSubmodules(folder: Folder): Promise<string | undefined> {
    if ((await this.#typeOf(folder)) === undefined) return undefined;
    const path = this.#virtualPath(folder);
    const { paths, truncated } = await this.#scopes.list(path, { pattern: "**/config", maxEntries: mostSubmodules });
    if (truncated) return `it has more than ${mostSubmodules} submodules`;
    const found = await Promise.all(paths.map((one) => this.#judgeFile(one)));
    return found.find((why) => why !== undefined);
  }

  async #judge(file: Folder): Promise<string | undefined> {
    return (await this.#typeOf(file)) === undefined ? undefined : this.#judgeFile(this.#virtualPath(file));
  }

  async #judgeFile(path: string): Promise<string | undefined> {
    try {
      const { bytes, facts } = await this.#scopes.read(path, { maxBytes: maxConfigurationBytes });
      if (facts.bytes > maxConfigurationBytes) return "the configuration of its repository is too long to be looked at";
      const helper = findGitHelper(new TextDecoder().decode(bytes));
      return helper === undefined
        ? undefined
        : `the configuration of its repository has \`${helper}\`, with which it can run programs`;
    } catch (error) {
      if (error instanceof ScopeError) return "the configuration of its repository cannot be looked at";
      throw error;
    }
  }

  async #typeOf(components: Folder): Promise<"file" | "directory" | "other" | undefined> {
    try {
      return (await this.#scopes.facts(this.#virtualPath(components))).type;
    } catch (error) {
      if (!(error instanceof ScopeError)) throw error;
      return error.type === "not_found" || error.type === "not_a_directory" ? undefined : "other";
    }
  }

  #virtualPath(components: Folder): string {
    return `${this.#base.scope.name}:${components.join("/")}`;
  }
}
