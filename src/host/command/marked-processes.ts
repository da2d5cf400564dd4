import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** The variable by which a command's processes are found, wherever they went; a random value for each command. */
export const markerName = "LLM_DO_COMMAND";

/** In milliseconds. A process that is stuck in the kernel is not waited for any longer. */
const longestPause = 2048;

/**
 * Ends the processes that have the marker in their environment: daemons that left their process group. Linux alone. A
 * process that also emptied its environment is not found: that takes the wall.
 */
export async function endMarked(marker: string): Promise<void> {
  if (process.platform !== "linux") return;
  // One that starts others while we look is met again, as is one that has not come to its end yet.
  for (let pause = 1; pause < longestPause; pause *= 2) {
    const found = await findMarked(marker);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await delay(pause);
  }
}

async function findMarked(marker: string): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const marked = await Promise.all(pids.map((pid) => isMarked(pid, marker)));
  return pids.filter((pid, index) => pid !== process.pid && marked[index]);
}

async function isMarked(pid: number, marker: string): Promise<boolean> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1");
    return environment.split("\0").includes(`${markerName}=${marker}`);
  } catch {
    // Another user's, or gone.
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone.
  }
}
