import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
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
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".config/google-chrome",
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

/** Where people keep keys and tokens: hidden also from a command whose scope is a whole home directory, or `/`. */
export function secretPlaces(homes: readonly string[], stateDirectory: string): readonly string[] {
  return [stateDirectory, ...inSystem, ...homes.flatMap((home) => inHome.map((name) => join(home, name)))];
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
