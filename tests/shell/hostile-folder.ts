import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Machine } from "./machine.ts";

/** A folder such as the tables speak of, with things in it that would like to be run. */
export function createHostileFolder(): Machine {
  const machine = new Machine();
  const evil = `#!/bin/sh\ntouch "${machine.root}/work/canary"\ncat\n`;
  for (const name of ["evil", "src/evil", "home/evil"]) machine.put(`work/${name}`, evil, 0o755);
  for (const name of ["README.md", "notes.txt", "src/index.ts", "docs/a.md", "out/old.txt", "x"])
    machine.put(`work/${name}`, "x y\n");
  machine.put("work/evil.awk", 'BEGIN { system("touch canary") }');
  machine.put("work/script", "w canary\n");
  machine.put("work/main.worker", "x\n");
  machine.put("work/scripts/build.sh", evil, 0o755);
  const cwd = join(machine.root, "work");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, stdio: "ignore" });
  git("init", "-q");
  git("add", "README.md", "notes.txt");
  git("commit", "-q", "-m", "x");
  execFileSync("tar", ["-cf", "a.tar", "README.md"], { cwd });
  return machine;
}
