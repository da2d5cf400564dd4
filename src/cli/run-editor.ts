import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";

/** As git does it: the command is a shell's, so that `code --wait` works. It gets the terminal, whatever the streams of this process are. */
export async function runEditor(command: string, path: string, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  const terminal = openSync("/dev/tty", "r+");
  try {
    return await new Promise((resolve, reject) => {
      const editor = spawn("/bin/sh", ["-c", scriptOf(command), "sh", path], { stdio: [terminal, terminal, terminal] });
      const end = () => editor.kill("SIGTERM");
      signal.addEventListener("abort", end, { once: true });
      editor.on("error", reject);
      editor.on("close", (code, killedBy) => {
        signal.removeEventListener("abort", end);
        if (signal.aborted) reject(signal.reason);
        else resolve(describeEnd(code, killedBy));
      });
    });
  } finally {
    closeSync(terminal);
  }
}

/** The shell makes way for a single command: one that waits for the editor would report the editor's Ctrl-C as its end, and is what a signal ends. */
function scriptOf(command: string): string {
  return /[;&|()\n]/.test(command) ? `${command} "$1"` : `exec env ${command} "$1"`;
}

function describeEnd(code: number | null, killedBy: string | null): string | undefined {
  if (code === 0) return undefined;
  const how = killedBy === null ? `with the exit code ${code}` : `by ${killedBy}`;
  return `The editor ended ${how}. The arguments stay as they are.`;
}
