import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Returns true if the process is in the foreground group of its terminal, or if the system does not say. */
export function isInForeground(): boolean {
  const [own, foreground] = process.platform === "linux" ? groupsOfLinux() : groupsOfPs();
  return own === undefined || foreground === undefined || own === foreground;
}

/** The process group of this process, and the foreground group of its terminal. */
function groupsOfLinux(): readonly string[] {
  try {
    const [, , own = "", , , foreground = ""] = afterName(readFileSync("/proc/self/stat", "utf8"));
    return [own, foreground];
  } catch {
    return [];
  }
}

/** The name in brackets can hold blanks and brackets. */
function afterName(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function groupsOfPs(): readonly string[] {
  const { stdout } = spawnSync("ps", ["-o", "pgid=,tpgid=", "-p", String(process.pid)], { encoding: "utf8" });
  return (stdout ?? "").match(/\d+/g) ?? [];
}
