import type { Dirent } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { nameSet } from "../../util/text/name-set.ts";
import { isWithin } from "../../util/within.ts";
import { toolchainVariables } from "../command/command-environment.ts";
import { knownEntriesOf, realPathOf } from "../command/look.ts";
import { type Host, variable } from "../host.ts";
import { privatePlacesOf } from "../own-files/private-folders.ts";
import { isReadProtected } from "../scopes/protected-names.ts";
import type { Mount } from "./mount.ts";

export interface ToolchainFacts {
  /** The state folder and the like of this host are never shown, not as one of PATH either. */
  readonly owner: Pick<Host, "environment" | "stateDirectory" | "configFile">;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly path: readonly string[];
  readonly homes: readonly string[];
  /** Mounts that exist already: the system, and the scopes. */
  readonly seen: readonly Mount[];
  /** Paths that are never shown, nor folders that hold one. */
  readonly secrets: readonly string[];
  /** The file of the program that is run. */
  readonly program: string | undefined;
}

/** Folders in a home directory that hold programs and nothing else. `~/.cargo` and `~/.local` are not among them. */
const programHomes = nameSet(
  ".asdf .bun .deno .dotnet .ghcup .juliaup .nodenv .nvm .opam .pyenv .rbenv .rustup .sdkman .volta anaconda3 miniconda3 miniforge3",
);

/**
 * Finds toolchains outside the system's folders. For an entry of PATH `…/bin` that is its parent folder, read-only, unless the parent
 * is a home directory, a folder in one that holds more than programs, or a project: then it is the entry alone.
 */
export function findToolchainView(facts: ToolchainFacts): readonly Mount[] {
  const view = [...facts.seen];
  const show = (path: string, root: (real: string) => string) => {
    const real = realPathOf(path);
    if (real === undefined) return;
    if (!isSeen(view, real)) {
      const shown = root(real);
      view.push({ kind: "read-only", path: shown, source: shown });
    }
    if (real !== path && !isSeen(view, path)) view.push({ kind: "link", path, target: real });
  };
  const own = privatePlacesOf(facts.owner).map((path) => realPathOf(path) ?? path);
  const isOwn = (entry: string) => own.some((path) => isWithin(realPathOf(entry) ?? entry, path));
  for (const entry of facts.path) if (!isOwn(entry)) show(entry, (real) => toolchainOf(real, facts));
  for (const folder of namedFolders(facts)) show(folder, (real) => real);
  if (facts.program !== undefined) show(facts.program, (real) => real);
  return view.slice(facts.seen.length);
}

function isSeen(view: readonly Mount[], path: string): boolean {
  return view.some((mount) => mount.kind !== "empty" && isWithin(path, mount.path));
}

function toolchainOf(folder: string, facts: ToolchainFacts): string {
  if (!["bin", ".bin", "sbin", "shims"].includes(basename(folder))) return folder;
  const parent = dirname(folder);
  return isForPrograms(parent, facts) && (isInProgramHome(parent, facts) || !isProject(parent)) ? parent : folder;
}

function isInProgramHome(folder: string, { homes }: ToolchainFacts): boolean {
  return homes.some((home) => [...programHomes].some((name) => isWithin(folder, join(home, name))));
}

/** Answers by listings, which are the same object until a folder changes. */
const projects = new WeakMap<readonly Dirent[], boolean>();

/** A folder whose `bin` is on PATH, as `direnv` puts it there, holds its sources and keys beside it. */
function isProject(folder: string): boolean {
  const entries = knownEntriesOf(folder);
  const known = projects.get(entries);
  if (known !== undefined) return known;
  const isOne = entries.some(({ name }) => name === "package.json" || isReadProtected(name));
  projects.set(entries, isOne);
  return isOne;
}

function isForPrograms(folder: string, { homes, secrets }: ToolchainFacts): boolean {
  if (dirname(folder) === folder || [...homes, ...secrets].some((path) => isWithin(path, folder))) return false;
  return !homes.includes(dirname(folder)) || programHomes.has(basename(folder));
}

/** Rust's programs look for their toolchain in the home directory, which is another one in the wall. */
function namedFolders(facts: ToolchainFacts): readonly string[] {
  const named = toolchainVariables.map((name) => variable(facts, name));
  return named.filter((path) => path !== undefined).filter((path) => isAbsolute(path) && isForPrograms(path, facts));
}

/** Variables for toolchains that would look for their files below HOME, which is another folder in the wall. */
export function toolchainEnvironment(path: readonly string[], home: string): Readonly<Record<string, string>> {
  return path.includes(join(home, ".cargo/bin")) ? { RUSTUP_HOME: join(home, ".rustup") } : {};
}
