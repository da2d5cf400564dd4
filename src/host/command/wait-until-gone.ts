import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { isZombie } from "../process-state.ts";

/** When a process (of Linux) is no more, or a zombie: then a process namespace that it was the first of is empty. */
export async function waitUntilGone(pid: number, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  for (let pause = 1; performance.now() < end; pause = Math.min(pause * 2, 50)) {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
    if (isZombie(stat) || stat === "") return;
    await delay(pause);
  }
}
