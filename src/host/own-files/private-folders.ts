import { join, resolve } from "node:path";
import { getOrMake } from "../../util/get-or-make.ts";
import { isWithin } from "../../util/within.ts";
import { type Host, variable } from "../host.ts";
import { foldName } from "../scopes/protected-names.ts";

/** The folder of the user's keys and logins, in the state folder. */
export function credentialsFolder(stateDirectory: string): string {
  return join(stateDirectory, "credentials");
}

/** The folder of copies of the machine's settings for the views of commands. */
export function settingsFolder(stateDirectory: string): string {
  return join(stateDirectory, "private", "settings");
}

/** The folder of notes on commands that write: a later process cleans up by those of one that was killed. */
export function notesFolder(stateDirectory: string): string {
  return join(stateDirectory, "private", "writing");
}

/** The folder on which layers are mounted, each command's in a namespace of its own: it stays empty. */
export function layersFolder(stateDirectory: string): string {
  return join(stateDirectory, "private", "layers");
}

/**
 * The places that no scope, command or file of a program reaches, whatever it declares: the user's configuration, a store that is named,
 * and the whole state folder, since llm-do believes what lies there: trust, answers, rights of created workers, compiled code.
 */
export function privatePlacesOf(host: Pick<Host, "stateDirectory" | "configFile" | "environment">): readonly string[] {
  const { stateDirectory, configFile } = host;
  const store = variable(host, "LLM_DO_STORE");
  return [stateDirectory, configFile, ...(store === undefined || store.includes("://") ? [] : [resolve(store)])];
}

/** Returns whether a path is one of some folders, or below one. Compares names as the most lenient file system does. */
export function isPrivatePath(path: string, folders: readonly string[]): boolean {
  const folded = foldPath(path);
  return getOrMake(kept, folders, () => folders.map(foldPath)).some((folder) => isWithin(folded, folder));
}

const kept = new WeakMap<readonly string[], readonly string[]>();

/** Paths in which case alone can differ. */
const differsInCase = /^(?!.*\.(?:\/|$))[-!-9;-[\]-~]*$/;

function foldPath(path: string): string {
  if (differsInCase.test(path)) return path.toLowerCase();
  return path.split(/[\\/]/).map(foldName).join("/");
}
