import type { Dirent } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { nameSet } from "../../util/text/name-set.ts";
import { knownEntriesOf, realPathOf, statOf } from "../command/look.ts";
import { type Host, variable } from "../host.ts";
import { privatePlacesOf } from "../own-files/private-folders.ts";
import { holdsNested, nestNames } from "../scopes/nested-names.ts";
import { foldName, isReadProtected } from "../scopes/protected-names.ts";
import { foldersAbove, type Mount } from "./mount.ts";

const inHome = [
  ...nameSet(
    // Keys, passwords and their stores.
    ".ssh .gnupg .password-store .netrc .pgpass .my.cnf .git-credentials .authinfo .authinfo.gpg .vault-token .Xauthority",
    ".local/share/keyrings .local/share/kwalletd .config/Bitwarden .config/op .config/sops Library/Keychains",
    // Clouds and clusters.
    ".aws .azure .kube .docker .boto .databrickscfg .fly .oci .s3cfg .terraform.d/credentials.tfrc.json .terraformrc",
    ".config/containers/auth.json .config/doctl .config/gcloud .config/hcloud .config/heroku .config/rclone",
    // Registries of packages and models.
    ".npmrc .pypirc .yarnrc.yml .cargo/credentials .cargo/credentials.toml .gem/credentials .gradle/gradle.properties",
    ".m2/settings.xml .m2/settings-security.xml .composer/auth.json .config/composer/auth.json .config/pip/pip.conf",
    ".huggingface .cache/huggingface/token .kaggle",
    // Forges and agents.
    ".config/gh .config/git/credentials .config/github-copilot .config/glab-cli .config/hub .claude .codex .gemini .local/state/llm-do",
    // Browsers and mail.
    ".mozilla .thunderbird .config/BraveSoftware .config/google-chrome .config/chromium .config/microsoft-edge Library/Cookies",
    // Histories.
    ".bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history .irb_history",
    ".rediscli_history .lesshst .viminfo .local/share/fish/fish_history",
  ),
  "Library/Application Support/llm-do",
];

const inSystem = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssl/private", "/etc/ssh", "/var/run/docker.sock"];

/** Variables with the path of such a file or folder; `KUBECONFIG` lists several. */
const variables = [
  ...nameSet(
    "AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AZURE_CONFIG_DIR CLOUDSDK_CONFIG DOCKER_CONFIG GOOGLE_APPLICATION_CREDENTIALS KUBECONFIG",
    "CLAUDE_CONFIG_DIR CODEX_HOME GH_CONFIG_DIR GNUPGHOME HISTFILE NETRC NPM_CONFIG_USERCONFIG npm_config_userconfig",
    "PASSWORD_STORE_DIR PGPASSFILE PIP_CONFIG_FILE TF_CLI_CONFIG_FILE XAUTHORITY",
  ),
];

const inAnyFolder = nestNames(...inHome.filter((path) => !path.includes(" ")).map(foldName));

/**
 * Returns whether a file or folder holds keys or tokens by its name, wherever it lies: `.npmrc`, `.ssh`, `.config/gh`. `.git` is one of
 * them, since addresses of remotes can hold a token. `folded`: the components of its path.
 */
export function holdsCredentials(folded: readonly string[]): boolean {
  return folded.at(-1) === ".git" || holdsNested(folded, inAnyFolder);
}

type Owner = Pick<Host, "environment" | "stateDirectory" | "configFile">;

/** Files and folders with keys and tokens. They are hidden even if a scope is a whole home directory, or `/`. */
export function findSecrets(homes: readonly string[], owner: Owner): readonly string[] {
  const named = variables.flatMap((name) => variable(owner, name)?.split(delimiter) ?? []).filter((path) => isAbsolute(path));
  return [...privatePlacesOf(owner), ...inSystem, ...named, ...homes.flatMap(findInHome)];
}

/**
 * Finds settings among folders of programs, such as `/usr/local/etc`: services and registries keep passwords there. Programs that were
 * installed apart need few of them to look at files. `shown`: folders of programs that the command sees.
 */
export function findServiceSettings(shown: readonly string[]): readonly string[] {
  const apart = knownEntriesOf("/opt").map(({ name }) => join("/opt", name));
  const folders = ["/usr/etc", "/usr/local/etc", ...["/opt", ...apart].flatMap((one) => [join(one, "etc"), join(one, "conf")])];
  const named = ["/usr/local", "/opt", ...apart, ...shown].flatMap(credentialsIn);
  return [...folders, ...named, ...shown.flatMap((folder) => registrySettings.map((name) => join(folder, "etc", name)))];
}

/** Global settings of package managers and of git, below the folder that a language was installed in. */
const registrySettings = ["npmrc", "pip.conf", "gitconfig", "yarnrc", "composer"];

/** Answers by listings, which are the same object until a folder changes. */
const credentials = new WeakMap<readonly Dirent[], readonly string[]>();

function credentialsIn(folder: string): readonly string[] {
  const entries = knownEntriesOf(folder);
  const isSecret = (name: string) => isReadProtected(name) || holdsNested([foldName(name)], inAnyFolder);
  const names = credentials.get(entries) ?? entries.map(({ name }) => name).filter(isSecret);
  credentials.set(entries, names);
  return names.map((name) => join(folder, name));
}

/** Leaves out those whose first folder a home lacks: most do. Without regard to case, as the most lenient file system. */
function findInHome(home: string): readonly string[] {
  const names = new Set(knownEntriesOf(home).map(({ name }) => name.toLowerCase()));
  // Nothing is known of a home that cannot be listed.
  const found = names.size === 0 ? inHome : inHome.filter((_, index) => names.has(firstInHome[index] ?? ""));
  return found.map((path) => join(home, path));
}

const firstInHome = inHome.map((path) => path.split("/", 1).join("").toLowerCase());

/** Hides those that a command would see, but for roots of scopes, which were declared on purpose. */
export function hideSecrets(secrets: readonly string[], shown: readonly Mount[]): readonly Mount[] {
  const mounted = shown.filter((mount) => mount.kind === "writable" || mount.kind === "read-only");
  const folders = new Set(mounted.map((mount) => mount.path));
  const hidden = [...new Set(secrets)].flatMap(toHiddenMount);
  return hidden.filter(({ path }) => !folders.has(path) && foldersAbove(path).some((folder) => folders.has(folder)));
}

/** Resolves links: nothing can be mounted over a link. */
function toHiddenMount(path: string): readonly Mount[] {
  const real = realPathOf(path);
  const stats = real === undefined ? undefined : statOf(real);
  if (real === undefined || stats === undefined) return [];
  return [{ kind: stats.isDirectory() ? "hidden-folder" : "hidden-file", path: real }];
}
