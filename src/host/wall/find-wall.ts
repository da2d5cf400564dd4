import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isExecutable } from "../command/look.ts";
import { findSystemProgram } from "../command/program-path.ts";
import type { Isolation } from "../commands.ts";
import type { Bubblewrap } from "./bubblewrap.ts";
import { runBubblewrap } from "./run-bubblewrap.ts";
import { findSystemView, privateFolders } from "./system-view.ts";

export type Wall =
  | { readonly type: "bubblewrap"; readonly bubblewrap: Bubblewrap }
  | { readonly type: "seatbelt"; readonly file: string }
  | (Isolation & { readonly type: "none" });

/** Finds the wall by trying it: an installed program may not work (containers, AppArmor, `sysctl`). */
export async function findWall(path: readonly string[], shell: string | undefined): Promise<Wall> {
  if (process.platform === "linux") return shell === undefined ? noWall("there is no bash") : findBubblewrap(path, shell);
  if (process.platform === "darwin") {
    const file = "/usr/bin/sandbox-exec";
    return isExecutable(file) ? { type: "seatbelt", file } : noWall(`${file} is missing`);
  }
  return noWall(`llm-do knows no wall for ${process.platform}; on Windows, run it in WSL 2 or a container`);
}

function noWall(why: string): Wall {
  return { type: "none", why };
}

async function findBubblewrap(path: readonly string[], shell: string): Promise<Wall> {
  const file = findSystemProgram("bwrap", path);
  if (file === undefined)
    return noWall("bubblewrap is not installed in a folder of the system: apt install bubblewrap, or dnf, pacman, apk, zypper");
  const { stdout } = await promisify(execFile)(file, ["--help"], { encoding: "utf8" }).catch(() => ({ stdout: "" }));
  if (!stdout.includes("--bind-fd")) {
    return noWall(`${file} is too old: it lacks --bind-fd (0.10, or a distribution's security update of autumn 2024)`);
  }
  const features = new Set(["--disable-userns", "--size"].filter((option) => stdout.includes(option)));
  const bubblewrap = { file, features };
  const failure = await tryBubblewrap(bubblewrap, shell);
  return failure === undefined ? { type: "bubblewrap", bubblewrap } : noWall(failure);
}

async function tryBubblewrap(bubblewrap: Bubblewrap, shell: string): Promise<string | undefined> {
  const command = {
    argv: [shell, "-c", "exit 42"],
    environment: { PATH: "/usr/bin:/bin" },
    mounts: [...findSystemView().filter((mount) => !("copies" in mount)), ...privateFolders],
    cwd: "/",
    cwdHandle: undefined,
    network: false,
    shell,
    gitConfiguration: undefined,
  };
  const signal = new AbortController().signal;
  const tried = await runBubblewrap(bubblewrap, command, { timeoutMilliseconds: 10_000, maxOutputBytes: 4096, signal });
  if (tried.exitCode === 42 && tried.hasBegun) return undefined;
  return explain(bubblewrap.file, tried.stderr.text.trim());
}

function explain(file: string, said: string): string {
  const remedies = [
    [
      /setting up uid map|user namespace|No permissions to creat/i,
      "allow user namespaces (on Ubuntu 24.04: an AppArmor profile for bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0; in a container: a seccomp profile that lets it)",
    ],
    [/mount proc|\/newroot\/proc/i, "the container hides /proc: start it with --security-opt systempaths=unconfined"],
  ] as const;
  const remedy = remedies.find(([pattern]) => pattern.test(said))?.[1];
  return `${file} does not work here${said === "" ? "" : ` (${said})`}${remedy === undefined ? "" : `: ${remedy}`}`;
}
