import { mkdtempSync, realpathSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { nameSet } from "../../util/text/name-set.ts";
import { variable } from "../host.ts";
import type { CommandSetting } from "./command-setting.ts";

/** Runs a function with a private folder for HOME, which is removed afterwards. */
export async function inPrivateHome<T>(setting: CommandSetting, use: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(realpathSync.native(tmpdir()), "llm-do-home-"));
  try {
    if (setting.gitConfiguration !== undefined) writeFileSync(join(home, ".gitconfig"), setting.gitConfiguration);
    setting.request.signal.throwIfAborted();
    return await use(home);
  } finally {
    await removeHome(home);
  }
}

/** Waits for the thread pool only where a command left something: that can be much. */
async function removeHome(home: string): Promise<void> {
  try {
    rmSync(join(home, ".gitconfig"), { force: true });
    rmdirSync(home);
  } catch {
    await rm(home, { recursive: true, force: true }).catch(() => undefined);
  }
}

/**
 * Returns the whole environment of a command: an allow-list, so that no key or token of the parent's reaches it. HOME is private, so
 * that no user configuration is read either: git knows its user's name and address, and no alias or credential helper. Settings of a
 * repository that make git run programs unseen are switched off.
 */
export function createCommandEnvironment(
  setting: CommandSetting,
  folders: { readonly home: string; readonly temporary: string },
): Record<string, string> {
  const { environment, path, shell, request } = setting;
  const inherited = Object.keys(environment).flatMap((name) => {
    const value = isInherited(name) ? variable(setting, name) : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    LANG: "C.UTF-8",
    ...Object.fromEntries(inherited),
    PATH: path.join(delimiter),
    HOME: folders.home,
    TMPDIR: folders.temporary,
    TERM: "dumb",
    ...(shell === undefined ? {} : { SHELL: shell }),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_EDITOR: "true",
    ...gitSettings(request),
    ...(request.rights?.writes.length === 0 ? lookSettings : {}),
    ...(request.rights && !request.network ? { npm_config_fetch_retries: "0" } : {}),
    ...request.environment,
  };
}

/** Places for what programs note beside their work, where they can write nowhere else. */
const lookSettings = {
  PYTEST_ADDOPTS: "-o cache_dir=/tmp/pytest",
  COVERAGE_FILE: "/tmp/.coverage",
  RUFF_CACHE_DIR: "/tmp/ruff",
  CARGO_TARGET_DIR: "/tmp/cargo-target",
};

/** Settings that outrank those of a repository. */
function gitSettings({ hooks, unprotected }: CommandSetting["request"]): Record<string, string> {
  const settings = [
    ["core.fsmonitor", "false"],
    ["log.showSignature", "false"],
    ["safe.bareRepository", "explicit"],
    ...(hooks ? [] : [["core.hooksPath", "/dev/null"]]),
    // It would write files that are read-only.
    ...(unprotected?.includes(".git/config") ? [] : [["rerere.enabled", "false"]]),
  ];
  const entries = settings.flatMap(([key = "", value = ""], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(entries) };
}

/** Variables with the folders of toolchains: paths, no secrets. The wall shows these folders. */
export const toolchainVariables = [
  ...nameSet(
    "RUSTUP_HOME PYENV_ROOT RBENV_ROOT VOLTA_HOME NVM_DIR SDKMAN_DIR ASDF_DATA_DIR JAVA_HOME GOROOT DOTNET_ROOT CONDA_PREFIX VIRTUAL_ENV",
  ),
];

const inheritedNames = new Set([
  ...nameSet(
    "LANG LANGUAGE TZ USER LOGNAME GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL",
    // Without these nothing starts on Windows.
    "SYSTEMROOT WINDIR COMSPEC PATHEXT",
  ),
  ...toolchainVariables,
]);

function isInherited(name: string): boolean {
  return inheritedNames.has(name) || /^LC_[A-Z]+$/.test(name);
}

/** Throws a `TypeError` for a malformed name, a value with NUL, and names that change which code runs. */
export function assertEnvironment(added: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(added)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name of a variable`);
    if (isRefused(name.toUpperCase())) throw new TypeError(`the variable ${name} cannot be set for a command`);
    if (typeof value !== "string" || value.includes("\0")) throw new TypeError(`the value of ${name} is not usable`);
  }
}

function isRefused(name: string): boolean {
  return refusedNames.has(name) || /^(?:LD|DYLD|BASH_FUNC)_|^GIT_(?!AUTHOR_|COMMITTER_)/.test(name);
}

const refusedNames = nameSet(
  // All programs.
  "PATH HOME TMPDIR GCONV_PATH",
  // Shells.
  "BASH_ENV ENV BASHOPTS SHELLOPTS PS4 IFS CDPATH GLOBIGNORE PROMPT_COMMAND",
  // Interpreters.
  "NODE_OPTIONS NODE_PATH PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS",
  // Programs that these start.
  "LESSOPEN LESSCLOSE",
);
