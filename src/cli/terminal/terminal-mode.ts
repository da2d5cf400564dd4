import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";

/** Lets Ctrl-C send a signal in a terminal in raw mode. Returns what undoes that in one that still is; undefined for no change. */
export function letKeysInterrupt(): (() => unknown) | undefined {
  if (!/\s-isig\b/.test(stty("-a") ?? "")) return undefined;
  stty("isig");
  return () => isRaw() && stty("-isig");
}

/** Ends raw mode, if no code of the process that turned it on can run. */
export function restoreTerminal(): void {
  if (isRaw()) stty("sane");
}

function isRaw(): boolean {
  return /\s-icanon\b/.test(stty("-a") ?? "");
}

/** Runs `stty` on the terminal that controls this process. Undefined if there is none. */
function stty(argument: string): string | undefined {
  let terminal: number;
  try {
    terminal = openSync("/dev/tty", "r");
  } catch {
    return undefined;
  }
  const { status, stdout } = spawnSync("stty", [argument], { stdio: [terminal, "pipe", "ignore"], encoding: "utf8" });
  closeSync(terminal);
  return status === 0 ? stdout : undefined;
}
