import type { RunFlags } from "./run-flags.ts";
import { verbosityOf } from "./run-request.ts";

/** What of this process is a terminal. */
export interface Streams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  /** One controls this process, and it is in the foreground. */
  readonly terminal: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns true if a run is drawn by the terminal UI: where `--tui` or `--chat` ask for it and there is a terminal; otherwise where
 * stdin, stdout and stderr are one, and nothing asks for lines: no flag that shapes what is printed, no `CI`, no dumb terminal.
 */
export function usesTui(flags: RunFlags, streams: Streams, env: Environment): boolean {
  if (!streams.terminal || flags.headless || flags.dryRun || flags.plain) return false;
  if (flags.tui || flags.chat) return true;
  if (isSet(env["LLM_DO_PLAIN"]) || isSet(env["CI"]) || env["TERM"] === "dumb" || env["TERM"] === undefined) return false;
  const asksForLines = flags.json || flags.quiet || verbosityOf(flags) > 0 || flags.events === "-";
  return !asksForLines && streams.stdin && streams.stdout && streams.stderr;
}

function isSet(value: string | undefined): boolean {
  return !["", "0", "false"].includes(value ?? "");
}
