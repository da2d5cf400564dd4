import { reserveStdout, writeStderr } from "../output.ts";
import { type ReportFlags, reportFailure } from "../run/report-run.ts";
import { guardProcess, type StrayOwners } from "./guard-process.ts";
import { listenForSignals, type SignalListener } from "./signals.ts";

export interface CommandGuard {
  readonly signals: SignalListener;
  readonly signal: AbortSignal;
  /** Says something on stderr; nothing with `--quiet`. */
  readonly note: (message: string) => void;
}

/**
 * Does the work of a command that enters a program's code: signals and exceptions of that code abort its signal, or end the run of `owners`
 * that they belong to. What it rejects with is reported. Returns the exit code.
 */
export async function guardCommand(
  flags: ReportFlags,
  work: (guard: CommandGuard) => Promise<number>,
  owners?: StrayOwners,
): Promise<number> {
  using signals = listenForSignals();
  const { controller } = signals;
  using _guard = guardProcess(controller, flags, owners);
  reserveStdout();
  const note = (message: string) => {
    if (!flags.quiet) writeStderr(`llm-do: ${message}\n`);
  };
  try {
    return await work({ signals, signal: controller.signal, note });
  } catch (thrown) {
    return await reportFailure(thrown, flags);
  }
}
