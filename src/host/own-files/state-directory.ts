import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Host } from "../host.ts";

type StateDirectoryFacts = Pick<Host, "environment" | "homeDirectory" | "workingDirectory"> & { readonly platform: string };

/** Returns the user's home. Where the system knows none, a path below which nothing can be made. */
export function findHome(): string {
  try {
    return homedir() || "/dev/null";
  } catch {
    return "/dev/null";
  }
}

/** Returns the folder for the user's state, by the convention of each system. */
export function findStateDirectory(facts: StateDirectoryFacts): string {
  const { environment, platform, homeDirectory } = facts;
  const own = environment["LLM_DO_STATE_DIR"];
  if (own) return resolve(facts.workingDirectory, own);
  const xdg = environment["XDG_STATE_HOME"];
  // The specification says to ignore a relative path.
  if (xdg && isAbsolute(xdg)) return join(xdg, "llm-do");
  if (platform === "win32") return join(environment["LOCALAPPDATA"] || join(homeDirectory, "AppData", "Local"), "llm-do");
  if (platform === "darwin") return join(homeDirectory, "Library", "Application Support", "llm-do");
  return join(homeDirectory, ".local", "state", "llm-do");
}
