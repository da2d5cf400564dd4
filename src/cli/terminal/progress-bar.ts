import { escapeText } from "../../util/text/escape-text.ts";
import { keepStatus } from "../output.ts";

/** Work is shown to go on from this many milliseconds on. */
const patience = 2000;

/** A bar on stderr, at a terminal, for work that takes longer than two seconds. `end` takes it away. */
export function progressBar(what: string) {
  const started = performance.now();
  const name = escapeText(what, { keepBackslashes: true });
  let shown: string | undefined;
  return {
    update: (done: number, all: number): void => {
      const width = Math.max(10, Math.min(40, (process.stderr.columns || 80) - name.length - 24));
      const filled = Math.round((done / Math.max(1, all)) * width);
      shown = `${name} [${"#".repeat(filled)}${"-".repeat(width - filled)}] ${done} of ${all}`;
    },
    end: process.stderr.isTTY ? keepStatus(() => (performance.now() - started < patience ? undefined : shown)) : () => undefined,
  };
}
