import { readFileSync } from "node:fs";
import type { Writer } from "./files/temporary-name.ts";
import type { Processes } from "./host.ts";

/** `MACHINE BOOT PROCESS START`: a number of a process is given again, and by another system start, too. */
export function createNodeProcesses({
  machine,
  process: pid,
  isAlive,
}: Pick<Writer, "machine" | "process" | "isAlive">): Processes {
  let self: string | undefined;
  return {
    get self() {
      self ??= [machine, bootId(), pid, startOf(pid)].join(" ");
      return self;
    },
    isRunning: (process) => {
      const [itsMachine, boot, number, start] = process.split(" ");
      if (itsMachine !== machine) return undefined;
      return boot === bootId() && isAlive(Number(number)) && start === startOf(Number(number));
    },
  };
}

/** `-` where the system does not say. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "-";
  }
}

/** Clock ticks from the system's start to the process's; `-` where the system does not say. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in brackets can hold blanks. The start is the 22nd field of all, the 20th behind it.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "-";
  } catch {
    return "-";
  }
}
