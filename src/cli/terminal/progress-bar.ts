import { writeStderr } from "../output.ts";

/** Work is shown to go on from this many milliseconds on. */
const patience = 2000;

/** A bar on stderr, at a terminal, for work that takes longer than two seconds. `end` takes it away. */
export function progressBar(what: string) {
  const started = performance.now();
  let isShown = false;
  return {
    update: (done: number, all: number): void => {
      if (!process.stderr.isTTY || performance.now() - started < patience) return;
      isShown = true;
      const width = Math.max(10, Math.min(40, (process.stderr.columns || 80) - what.length - 24));
      const filled = Math.round((done / Math.max(1, all)) * width);
      writeStderr(`\r${what} [${"#".repeat(filled)}${"-".repeat(width - filled)}] ${done} of ${all}\u001b[K`);
    },
    end: (): void => {
      if (isShown) writeStderr("\r\u001b[K");
    },
  };
}
