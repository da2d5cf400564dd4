import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findProgram } from "../../command/program-path.ts";
import type { Host } from "../../host.ts";

/**
 * Returns the user's name and address for commits, as the text of a `.gitconfig` for a command's own home. The repository's own
 * configuration outranks it, as usual. Undefined if git knows no user. Reads files and runs nothing that they name.
 */
export async function readGitIdentity(
  { environment, homeDirectory }: Pick<Host, "environment" | "homeDirectory">,
  path: readonly string[],
): Promise<string | undefined> {
  const git = findProgram("git", path);
  if (git === undefined) return undefined;
  const { GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME } = environment;
  const env = {
    HOME: homeDirectory,
    ...(GIT_CONFIG_GLOBAL === undefined ? {} : { GIT_CONFIG_GLOBAL }),
    ...(XDG_CONFIG_HOME === undefined ? {} : { XDG_CONFIG_HOME }),
  };
  const args = ["config", "--global", "--includes", "--null", "--get-regexp", "^(user|author|committer)\\.(name|email)$"];
  const { stdout } = await promisify(execFile)(git, args, { cwd: "/", env, timeout: 5000 }).catch(() => ({ stdout: "" }));
  const lines = stdout.split("\0").flatMap(toLines);
  return lines.length === 0 ? undefined : `${lines.join("\n")}\n`;
}

/** `user.name`, a line end, and the value. */
function toLines(entry: string): readonly string[] {
  const end = entry.indexOf("\n");
  const [section, key] = entry.slice(0, end).split(".");
  if (end === -1 || section === undefined || key === undefined) return [];
  const value = entry
    .slice(end + 1)
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n");
  return [`[${section}]`, `\t${key} = "${value}"`];
}
