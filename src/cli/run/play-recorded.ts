import type { Program, RunOutput, RunRequest } from "../../front/llm-do.ts";
import type { Limits } from "../../protocol/usage.ts";
import { secondsOf } from "../commands/run.ts";
import { createGuardedHost } from "../process/guard-imports.ts";
import { guardCommand } from "../process/guarded-command.ts";
import { useProxies } from "../process/use-proxies.ts";
import { createWatchdog } from "../process/watchdog.ts";
import { openProgram } from "../programs/open-program.ts";
import { type RecordedProgram, sourceOf } from "../records/recorded-program.ts";
import { findTerminal } from "../terminal/terminal.ts";
import { createPolicy } from "./create-policy.ts";
import { openListeners } from "./event-sink.ts";
import { reportResult } from "./report-run.ts";
import type { RunFlags } from "./run-flags.ts";
import { createRequest, verbosityOf } from "./run-request.ts";

/** A recorded run that is played again. */
export interface FoundProgram extends RecordedProgram {
  /** Its questions are held, unless flags decide them: always, or where nobody can be asked. Default: they are denied there. */
  readonly isHeld?: boolean | "unattended";
}

export interface RecordedRequest extends RunRequest {
  readonly program: Program;
  readonly run: string;
}

export interface RecordedPlay<Found extends FoundProgram> {
  readonly find: (signal: AbortSignal) => Promise<Found>;
  /** Says how its program is trusted, where nobody can be asked. */
  readonly advise?: (found: Found) => Promise<string>;
  readonly play: (request: RecordedRequest, signal: AbortSignal, found: Found) => Promise<RunOutput>;
}

/** Runs the program of a recorded run again, compiled as it was but for today's flags, and reports as a run does. Returns the exit code. */
export function playRecorded<Found extends FoundProgram>(
  flags: RunFlags,
  { find, advise, play }: RecordedPlay<Found>,
): Promise<number> {
  return guardCommand(flags, async ({ signals, signal, note }) => {
    using watchdog = createWatchdog({ hasTerminal: !flags.headless });
    // A reader of stderr who stops reading keeps the main thread.
    if (flags.events === "-") watchdog.start();
    const terminal = flags.headless ? undefined : findTerminal(signals);
    const recorded = await find(signal);
    const { found, isHeld } = recorded;
    const holds = isHeld === "unattended" ? terminal === undefined : isHeld;
    const hold = flags.hold ?? (holds && !flags.approveAll && !flags.rejectAll);
    const approval = await createPolicy({ ...flags, ...(hold ? { hold } : {}) }, terminal);
    const { host, limitLoading, startRun } = createGuardedHost({ controller: signals.controller, watchdog });
    const onLimits = (ofProgram: Limits) => limitLoading(flags.limit?.seconds ?? ofProgram.seconds);
    const source = await sourceOf(recorded, flags);
    const more = { forRun: { run: found.runId }, ofProgram: source.ofProgram };
    const advice = advise && { advise: () => advise(recorded) };
    const options = { terminal, signal, toRun: true, quiet: flags.quiet, host, onLimits, ...more, ...advice };
    const { program } = await openProgram(source.targets, source.flags, options);
    const request = createRequest({ ...flags, journal: true }, signal);
    await useProxies(process.env, note);
    await startRun(secondsOf(program, request));
    const { runId } = found;
    return await playAndReport(
      flags,
      (listening) => play({ ...request, ...listening, program, approval, run: runId }, signal, recorded),
      program,
    );
  });
}

async function playAndReport(
  flags: RunFlags,
  play: (listening: Pick<RunRequest, "onEvent" | "traceOf">) => Promise<RunOutput>,
  program: Program,
): Promise<number> {
  await using telemetry = flags.otel ? await (await import("../process/telemetry.ts")).openTelemetry(flags) : undefined;
  const { onEvent: also, ...tracing } = telemetry?.begin() ?? {};
  const { events, quiet = false } = flags;
  using listeners = openListeners({ verbosity: verbosityOf(flags), quiet, events, ...(also ? { also } : {}) });
  return await reportResult(await play({ ...tracing, onEvent: listeners.onEvent }), { ...flags, program });
}
