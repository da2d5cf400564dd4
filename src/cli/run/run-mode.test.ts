import { expect, it } from "vitest";
import type { RunFlags } from "./run-flags.ts";
import { usesTui } from "./run-mode.ts";

const streams = { stdin: true, stdout: true, stderr: true, terminal: true };
const env = { TERM: "xterm" };
const plain: RunFlags = { verbose: 0, journal: true };

it("draws where all streams are terminals and nothing asks for lines", () => {
  expect(usesTui(plain, streams, env)).toBe(true);
  for (const stream of ["stdin", "stdout", "stderr", "terminal"] as const)
    expect(usesTui(plain, { ...streams, [stream]: false }, env)).toBe(false);
  const lines: Partial<RunFlags>[] = [
    ...[{ headless: true }, { plain: true }, { json: true }, { quiet: true }, { verbose: 1 }, { debug: true }],
    ...[{ dryRun: true }, { events: "-" }],
  ];
  for (const flags of lines) expect(usesTui({ ...plain, ...flags }, streams, env)).toBe(false);
  for (const other of [{ TERM: "dumb" }, {}, { ...env, CI: "true" }, { ...env, LLM_DO_PLAIN: "1" }])
    expect(usesTui(plain, streams, other)).toBe(false);
  expect(usesTui({ ...plain, events: "e.jsonl", output: "out.txt" }, streams, { ...env, CI: "false" })).toBe(true);
});

it("draws where it is asked to, on whatever terminal there is", () => {
  for (const flags of [{ tui: true }, { chat: true }]) {
    expect(usesTui({ ...plain, ...flags }, { ...streams, stdin: false, stdout: false }, { TERM: "dumb", CI: "1" })).toBe(true);
    expect(usesTui({ ...plain, ...flags }, { ...streams, terminal: false }, env)).toBe(false);
    expect(usesTui({ ...plain, ...flags, plain: true }, streams, env)).toBe("chat" in flags);
  }
});
