import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Reads `+ ONE` and `- ONE`: a process group, or the absolute path of a file. The end of its input is the end of our process. */
const script = `declare -A watched
while read -r sign one; do
  if [ "$sign" = + ]; then watched[$one]=1; else unset 'watched[$one]'; fi
done
for one in "\${!watched[@]}"; do [[ $one = /* ]] || kill -9 -- "-$one"; done
for one in "\${!watched[@]}"; do [[ $one = /* && -f $one ]] && echo >> "$one"; done`;

const watched = new Set<number | string>();
let guardian: ChildProcess | undefined;

/**
 * Starts the process that ends watched process groups when our process ends, even by SIGKILL, and then adds an empty line to watched
 * files. There is one for all commands; it sleeps, and keeps nothing from ending. `shell`: bash.
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
  for (const one of watched) started.stdin.write(`+ ${one}\n`);
}

/**
 * Watches the group of a process that was just started, or the file at an absolute path. Returns the function that ends the watch, to be
 * called when the process has exited.
 */
export function watchEnd(one: number | string): () => void {
  watched.add(one);
  // The write reaches the pipe before this function returns.
  guardian?.stdin?.write(`+ ${one}\n`);
  return () => {
    if (watched.delete(one)) guardian?.stdin?.write(`- ${one}\n`);
  };
}
