import { dirname, isAbsolute, join, relative, sep } from "node:path";
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
  const paths = [...folders.values()].map((folder) => join(base.scope.root, ...folder));
  const found = await Promise.all(paths.map((path) => judgeRepository(scopes, path)));
  return [...new Set(found)].filter((why) => why !== undefined).map((why) => asks(`git: ${why}`));
}

function gather(plan: ShellPlan, folders: Map<string, Folder>): void {
  for (const command of plan.commands) {
    for (const folder of foldersOfGit(command)) folders.set(folder.join("/"), folder);
    for (const { script } of command.words) if (script !== undefined) gather(script, folders);
  }
}

/** Where git could run: also behind `timeout` and the like, and where each `-C` leads from the one before it. */
function foldersOfGit({ words, folders = [] }: SimpleCommand): readonly Folder[] {
  if (!words.some(({ value }) => /^git(?:\.exe)?$/i.test(baseName(value)))) return [];
  const all = [...folders];
  let current = folders;
  for (const [index, { value }] of words.entries()) {
    const target = value === "-C" ? words[index + 1]?.value : undefined;
    if (target === undefined) continue;
    current = current.map((folder) => enter(folder, target)).filter((folder) => folder !== undefined);
    all.push(...current);
  }
  return all;
}

/** The repository that git finds from a folder upwards, with its submodules. */
async function judgeRepository(scopes: Scopes, folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const git = virtualPathOf(scopes, join(at, ".git"));
    if (git === undefined) return undefined;
    const type = await typeOf(scopes, git);
    if (type === "directory") {
      const config = `${git}/config`;
      const why = (await typeOf(scopes, config)) === undefined ? undefined : await judgeFile(scopes, config);
      return why ?? judgeSubmodules(scopes, `${git}/modules`);
    }
    if (type !== undefined) return "its repository lies elsewhere, and the configuration there was not looked at";
  }
}

/** In the deepest scope that holds it; undefined where none does: the wall does not show it. */
function virtualPathOf({ declarations }: Scopes, path: string): string | undefined {
  const paths = declarations.flatMap(({ name, root }) => {
    const below = relative(root, path);
    return below.startsWith("..") || isAbsolute(below)
      ? []
      : [{ path: `${name}:${below.split(sep).join("/")}`, length: root.length }];
  });
  return paths.toSorted((a, b) => b.length - a.length)[0]?.path;
}

async function judgeSubmodules(scopes: Scopes, folder: string): Promise<string | undefined> {
  if ((await typeOf(scopes, folder)) === undefined) return undefined;
  const { paths, truncated } = await scopes.list(folder, { pattern: "**/config", maxEntries: mostSubmodules });
  if (truncated) return `it has more than ${mostSubmodules} submodules`;
  const found = await Promise.all(paths.map((path) => judgeFile(scopes, path)));
  return found.find((why) => why !== undefined);
}

async function judgeFile(scopes: Scopes, path: string): Promise<string | undefined> {
  try {
    const { bytes, facts } = await scopes.read(path, { maxBytes: maxConfigurationBytes });
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

async function typeOf(scopes: Scopes, path: string): Promise<"file" | "directory" | "other" | undefined> {
  try {
    return (await scopes.facts(path)).type;
  } catch (error) {
    if (!(error instanceof ScopeError)) throw error;
    return error.type === "not_found" || error.type === "not_a_directory" ? undefined : "other";
  }
}
