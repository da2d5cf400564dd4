import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { entriesOf } from "./look.ts";

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
    const found = findMarked(marker);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await delay(pause);
  }
}

/** Reads synchronously: a file of `/proc` takes ten microseconds so, and five times that through the thread pool. */
function findMarked(marker: string): readonly number[] {
  const entry = `${markerName}=${marker}`;
  return entriesOf("/proc")
    .map(({ name }) => Number(name))
    .filter((pid) => pid > 0 && pid !== process.pid && environmentOf(pid).includes(entry));
}

/** Empty where it is another user's, or gone. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone.
  }
}
