import type { Program } from "../../front/llm-do.ts";
import type { RunFlags } from "./run-flags.ts";
import { verbosityOf } from "./run-request.ts";

/** The streams of this process that are terminals. */
export interface Streams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  /** One controls this process, and it is in the foreground. */
  readonly terminal: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns true if a run is a session at the terminal: drawn where `--tui` asks for it and there is a terminal, or a conversation of
 * `--chat`, which `--plain` holds in lines; otherwise where stdin, stdout and stderr are one, and nothing asks for lines: no flag that shapes what is
 * printed, no `CI`, no dumb terminal.
 */
export function usesTui(flags: RunFlags, streams: Streams, env: Environment): boolean {
  if (!streams.terminal || flags.headless || flags.dryRun || flags.hold) return false;
  if (flags.chat) return true;
  if (flags.plain) return false;
  if (flags.tui) return true;
  if (wantsLines(env) || isSet(env["CI"])) return false;
  const asksForLines = flags.json || flags.quiet || verbosityOf(flags) > 0 || flags.events === "-";
  return !asksForLines && streams.stdin && streams.stdout && streams.stderr;
}

/** Returns true if the environment asks for lines in place of what is drawn. */
export function wantsLines(env: Environment): boolean {
  return isSet(env["LLM_DO_PLAIN"]) || env["TERM"] === "dumb" || env["TERM"] === undefined;
}

/**
 * Chooses the output of a run that is not drawn. The entry's text is streamed where stdout is a terminal and gets the result alone. One
 * line of progress stands on stderr where it is a terminal that lines can be taken back from.
 */
export function chooseLines(
  flags: RunFlags,
  { entry }: Program,
  { stdout, stderr, env }: Pick<NodeJS.Process, "stdout" | "stderr" | "env">,
) {
  const isText = entry.kind === "worker" && entry.worker.output === undefined;
  const isRedrawn = stderr.isTTY && !flags.plain && ![env["LLM_DO_PLAIN"], env["CI"]].some(isSet) && env["TERM"] !== "dumb";
  return {
    streams: stdout.isTTY && isText && !flags.json && flags.output === undefined,
    showsProgress: isRedrawn && !flags.quiet && verbosityOf(flags) === 0 && flags.events !== "-",
  };
}

function isSet(value: string | undefined): boolean {
  return !["", "0", "false"].includes(value ?? "");
}
