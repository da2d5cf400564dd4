import { isAbsolute, join, resolve } from "node:path";

export interface StateDirectoryFacts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly homeDirectory: string;
  readonly workingDirectory: string;
}

/** Where each system keeps what a program remembers for its user. */
export function findStateDirectory(facts: StateDirectoryFacts): string {
  const { environment, platform, homeDirectory } = facts;
  const own = environment["LLM_DO_STATE_DIR"];
  if (own) return resolve(facts.workingDirectory, own);
  const xdg = environment["XDG_STATE_HOME"];
  // A relative one is to be ignored, says the specification.
  if (xdg && isAbsolute(xdg)) return join(xdg, "llm-do");
  if (platform === "win32") return join(environment["LOCALAPPDATA"] || join(homeDirectory, "AppData", "Local"), "llm-do");
  if (platform === "darwin") return join(homeDirectory, "Library", "Application Support", "llm-do");
  return join(homeDirectory, ".local", "state", "llm-do");
}
