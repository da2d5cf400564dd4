import { join } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { readJournalEnds } from "../../journal/read-journal.ts";
import { type ResumeRequest, resume } from "../../llm-do.ts";
import type { CompiledWith } from "../../protocol/fact.ts";
import type { Limits } from "../../protocol/usage.ts";
import { createPolicy } from "../create-policy.ts";
import { openListeners } from "../event-sink.ts";
import { Interrupted, UsageError } from "../exit-codes.ts";
import { type FoundRun, findRuns } from "../find-runs.ts";
import { createGuardedHost } from "../guard-imports.ts";
import { guardProcess } from "../guard-process.ts";
import { openProgram } from "../open-program.ts";
import { reserveStdout, writeStderr } from "../output.ts";
import { reportFailure, reportResult } from "../report-run.ts";
import type { RunFlags } from "../run-flags.ts";
import { createRequest, verbosityOf } from "../run-request.ts";
import { listenForSignals } from "../signals.ts";
import { findTerminal } from "../terminal.ts";
import { useProxies } from "../use-proxies.ts";
import { createWatchdog } from "../watchdog.ts";
import { secondsOf } from "./run.ts";

export interface ResumeFlags extends RunFlags {
  readonly takeOver?: boolean;
}

/** `llm-do resume [RUN] [TARGET]`: goes on with a run that did not end. Returns the exit code. */
export async function resumeCommand(run: string, target: string | undefined, flags: ResumeFlags): Promise<number> {
  const controller = new AbortController();
  const { signal } = controller;
  const { interrupt: onInterrupt, ignoreInterrupts, close } = listenForSignals((name) => controller.abort(new Interrupted(name)));
  const release = guardProcess((failure) => controller.abort(failure), flags);
  const watchdog = createWatchdog({ hasTerminal: !flags.headless });
  reserveStdout();
  try {
    const terminal = flags.headless ? undefined : findTerminal({ onInterrupt, ignoreInterrupts });
    const approval = await createPolicy(flags, terminal);
    const { found, compiled } = await findResumable(run, target);
    const { host, limitLoading, startRun } = createGuardedHost({ controller, watchdog });
    const onLimits = (ofProgram: Limits) => limitLoading(flags.limit?.seconds ?? ofProgram.seconds);
    const options = { terminal, signal, toRun: true, quiet: flags.quiet, host, onLimits };
    const { program } = await openProgram(targetsOf(found, compiled), withRecorded(flags, compiled), options);
    const { journal: _, attachments: __, ...request } = createRequest({ ...flags, journal: true }, signal);
    await useProxies(process.env, (message) => flags.quiet || writeStderr(`llm-do: ${message}\n`));
    await startRun(secondsOf(program, request));
    const { directory } = found;
    return await resumeAndReport({ ...request, program, approval, directory, takeOver: flags.takeOver ?? false }, flags);
  } catch (thrown) {
    return await reportFailure(thrown, flags);
  } finally {
    watchdog.close();
    release();
    close();
  }
}

async function resumeAndReport(request: ResumeRequest, flags: ResumeFlags): Promise<number> {
  const { onEvent, close } = openListeners({ verbosity: verbosityOf(flags), quiet: flags.quiet ?? false, events: flags.events });
  try {
    return await reportResult(await resume({ ...request, ...(onEvent ? { onEvent } : {}) }), flags);
  } finally {
    close();
  }
}

interface Resumable {
  readonly found: FoundRun;
  readonly compiled: CompiledWith | undefined;
}

/** `last`: the newest one that did not end. */
async function findResumable(run: string, target: string | undefined): Promise<Resumable> {
  const runs = await findRuns(target);
  const named = runs.find(({ runId }) => runId === run);
  for (const found of run === "last" ? runs.toReversed() : named ? [named] : []) {
    const { first, last } = await readJournalEnds(createNodeHost(), found.directory).catch((thrown: unknown) => {
      if (run === "last") return { first: undefined, last: undefined };
      throw thrown;
    });
    const hasEnded = last?.type === "run-end" && last.stopReason === "done";
    if (run === "last" && (first === undefined || hasEnded)) continue;
    return { found, compiled: first?.type === "run-start" ? first.compiled : undefined };
  }
  const which = run === "last" ? "no run that did not end" : `no run \`${run}\``;
  throw new UsageError(`there is ${which}; \`llm-do runs list${target === undefined ? "" : ` ${target}`}\` names what there is`);
}

function targetsOf({ root }: FoundRun, compiled: CompiledWith | undefined): readonly string[] {
  return (compiled?.files ?? [compiled?.target ?? "."]).map((path) => join(root, path));
}

/** The flags of the run, and over them those of today. */
function withRecorded(flags: ResumeFlags, { entry, model, set = [], modelFor = [] }: Partial<CompiledWith> = {}): ResumeFlags {
  return {
    ...(entry === undefined ? {} : { entry }),
    ...(model === undefined ? {} : { model }),
    ...flags,
    set: [...set, ...(flags.set ?? [])],
    modelFor: [...modelFor, ...(flags.modelFor ?? [])],
  };
}
