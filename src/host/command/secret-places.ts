import { realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { type Host, variable } from "../host.ts";
import { isWithin } from "../within.ts";
import type { Mount } from "./mount.ts";

const inHome = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".password-store",
  ".mozilla",
  ".thunderbird",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".git-credentials",
  ".bash_history",
  ".zsh_history",
  ".python_history",
  ".node_repl_history",
  ".psql_history",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".claude",
  ".codex",
  ".gemini",
  ".authinfo",
  ".authinfo.gpg",
  ".boto",
  ".databrickscfg",
  ".fly",
  ".gem/credentials",
  ".gradle/gradle.properties",
  ".huggingface",
  ".cache/huggingface/token",
  ".kaggle",
  ".m2/settings.xml",
  ".m2/settings-security.xml",
  ".oci",
  ".s3cfg",
  ".terraform.d/credentials.tfrc.json",
  ".terraformrc",
  ".vault-token",
  ".Xauthority",
  ".yarnrc.yml",
  ".composer/auth.json",
  ".lesshst",
  ".mysql_history",
  ".sqlite_history",
  ".irb_history",
  ".rediscli_history",
  ".viminfo",
  ".local/share/fish/fish_history",
  ".local/share/kwalletd",
  ".config/BraveSoftware",
  ".config/Bitwarden",
  ".config/composer/auth.json",
  ".config/containers/auth.json",
  ".config/doctl",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".config/github-copilot",
  ".config/glab-cli",
  ".config/google-chrome",
  ".config/hcloud",
  ".config/heroku",
  ".config/hub",
  ".config/microsoft-edge",
  ".config/pip/pip.conf",
  ".config/chromium",
  ".config/op",
  ".config/rclone",
  ".config/sops",
  ".local/share/keyrings",
  ".local/state/llm-do",
  "Library/Keychains",
  "Library/Cookies",
  "Library/Application Support/llm-do",
];

const inSystem = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssl/private", "/etc/ssh", "/var/run/docker.sock"];

/** Variables that name such a file or folder elsewhere; `KUBECONFIG` lists several. */
const variables = [
  "AWS_CONFIG_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AZURE_CONFIG_DIR",
  "CLAUDE_CONFIG_DIR",
  "CLOUDSDK_CONFIG",
  "CODEX_HOME",
  "DOCKER_CONFIG",
  "GH_CONFIG_DIR",
  "GNUPGHOME",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "HISTFILE",
  "KUBECONFIG",
  "NETRC",
  "NPM_CONFIG_USERCONFIG",
  "npm_config_userconfig",
  "PASSWORD_STORE_DIR",
  "PGPASSFILE",
  "PIP_CONFIG_FILE",
  "TF_CLI_CONFIG_FILE",
  "XAUTHORITY",
];

type Owner = Pick<Host, "environment" | "stateDirectory">;

/** Where people keep keys and tokens: hidden also from a command whose scope is a whole home directory, or `/`. */
export function secretPlaces(homes: readonly string[], owner: Owner): readonly string[] {
  const named = variables.flatMap((name) => variable(owner, name)?.split(delimiter) ?? []).filter((path) => isAbsolute(path));
  return [owner.stateDirectory, ...inSystem, ...named, ...homes.flatMap((home) => inHome.map((name) => join(home, name)))];
}

/** Those that a command would see. A scope whose root is such a place was declared on purpose. */
export async function hideSecrets(secrets: readonly string[], shown: readonly Mount[]): Promise<readonly Mount[]> {
  const folders = shown.filter((mount) => mount.kind === "writable" || mount.kind === "read-only").map((mount) => mount.path);
  const places = await Promise.all(secrets.map(findPlace));
  return places.filter((place) => place !== undefined).filter(({ path }) => isSeen(path, folders));
}

function isSeen(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isWithin(path, folder)) && !folders.includes(path);
}

/** Without links: nothing can be put over a link, and what it leads to is what counts. */
async function findPlace(path: string): Promise<Mount | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  return { kind: (await stat(real)).isDirectory() ? "hidden-folder" : "hidden-file", path: real };
}
