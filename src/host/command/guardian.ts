import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Reads `+ GROUP` and `- GROUP`. The end of its input is the end of our process. */
const script = `declare -A groups
while read -r sign group; do
  if [ "$sign" = + ]; then groups[$group]=1; else unset "groups[$group]"; fi
done
for group in "\${!groups[@]}"; do kill -9 -- "-$group"; done`;

const watched = new Set<number>();
let guardian: ChildProcess | undefined;

/**
 * Starts the process that ends watched process groups when our process ends, even by SIGKILL. There is one for all commands; it
 * sleeps, and keeps nothing from ending. `shell`: bash.
 */
export function startGuardian(shell: string): void {
  if (guardian !== undefined) return;
  const started = spawn(shell, ["--noprofile", "--norc", "-c", script], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guardian = started;
  const forget = () => {
    if (guardian === started) guardian = undefined;
  };
  started.on("error", forget).on("exit", forget);
  started.stdin.on("error", forget);
  started.unref();
  (started.stdin as Socket).unref();
  for (const group of watched) started.stdin.write(`+ ${group}\n`);
}

/** Watches the group of a process that was just started. Returns the function that ends the watch, to be called when it has exited. */
export function watchGroup(group: number): () => void {
  watched.add(group);
  // The write reaches the pipe before this function returns.
  guardian?.stdin?.write(`+ ${group}\n`);
  return () => {
    if (watched.delete(group)) guardian?.stdin?.write(`- ${group}\n`);
  };
}
