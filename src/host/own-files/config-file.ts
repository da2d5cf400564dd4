import { isAbsolute, join, resolve } from "node:path";
import type { Host } from "../host.ts";

type ConfigFileFacts = Pick<Host, "environment" | "homeDirectory" | "workingDirectory"> & { readonly platform: string };

/** Returns the path of the user's configuration, in the folder that is the convention of each system. */
export function findConfigFile(facts: ConfigFileFacts): string {
  return join(findFolder(facts), "config.yaml");
}

function findFolder({ environment, platform, homeDirectory, workingDirectory }: ConfigFileFacts): string {
  const own = environment["LLM_DO_CONFIG_DIR"];
  if (own) return resolve(workingDirectory, own);
  const xdg = environment["XDG_CONFIG_HOME"];
  // The specification says to ignore a relative path.
  if (xdg && isAbsolute(xdg)) return join(xdg, "llm-do");
  if (platform === "win32") return join(environment["APPDATA"] || join(homeDirectory, "AppData", "Roaming"), "llm-do");
  if (platform === "darwin") return join(homeDirectory, "Library", "Application Support", "llm-do");
  return join(homeDirectory, ".config", "llm-do");
}
