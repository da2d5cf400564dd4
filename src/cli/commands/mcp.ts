import { Readable } from "node:stream";
import type { Command } from "commander";
import { type OfferedWorker, offerWorker, toOfferedName } from "../../doors/offered-worker.ts";
import { printConfig } from "../client-config.ts";
import { createPolicy } from "../create-policy.ts";
import { UsageError } from "../exit-codes.ts";
import { guardProcess, StrayOwners } from "../guard-process.ts";
import { openProgram } from "../open-program.ts";
import { writeStderr } from "../output.ts";
import { type OwnStreams, serveOnOwnOutput } from "../own-output.ts";
import { reportFailure } from "../report-run.ts";
import type { RunFlags } from "../run-flags.ts";
import { createRequest } from "../run-request.ts";
import { listenForSignals } from "../signals.ts";
import { openTelemetry } from "../telemetry.ts";
import { useProxies } from "../use-proxies.ts";

export interface DoorFlags extends RunFlags {
  /** Names of the workers that are offered. Default: all that the programs reach. */
  readonly worker?: readonly string[];
  readonly askClient?: boolean;
  readonly printConfig?: "claude" | "cursor" | "vscode" | "zed";
}

/** Seconds that a question waits for a client's answer. */
const defaultPatience = 600;

/** `llm-do mcp TARGET…`: offers workers as tools over stdio. Returns the exit code. */
export async function mcpCommand(targets: readonly string[], flags: DoorFlags, command: Command): Promise<number> {
  if (flags.printConfig) return printConfig({ form: flags.printConfig, targets, flags, command });
  return serveOnOwnOutput((streams) => serveWorkers(targets, flags, streams));
}

async function serveWorkers(targets: readonly string[], flags: DoorFlags, { input, output }: OwnStreams): Promise<number> {
  using signals = listenForSignals();
  const { signal } = signals.controller;
  const owners = new StrayOwners();
  using _guard = guardProcess(signals.controller, flags, owners);
  try {
    const whole = { ...flags, headless: true, verbose: 0, journal: flags.journal ?? true };
    if (flags.hold && flags.askClient) throw new UsageError("--ask-client asks what --hold holds: leave one out");
    const policy = await createPolicy(whole, flags.askClient ? "client" : undefined);
    const workers = await openWorkers(targets.length === 0 ? ["."] : targets, whole);
    await using telemetry = await openTelemetry(whole);
    const { signal: _, attachments: __, ...request } = createRequest(whole, signal);
    await useProxies(process.env, (message) => writeStderr(`llm-do: ${message}\n`));
    const { serveMcp } = await import("../../doors/mcp/door.ts");
    writeStderr(`llm-do: offers ${workers.map(({ name }) => name).join(", ")}\n`);
    await serveMcp({
      ...{ workers, request, policy, output, signal, input: Readable.from(input), within: owners.within },
      trace: telemetry.begin,
      askClient: flags.askClient ?? false,
      outlivesClient: flags.hold ?? false,
      after: (milliseconds, expire) => {
        const timer = setTimeout(expire, milliseconds);
        return () => clearTimeout(timer);
      },
      patience: (flags.approvalTimeout ?? defaultPatience) * 1000,
      onProblem: ({ message }) => writeStderr(`llm-do: ${message}\n`),
    });
    if (signal.aborted) throw signal.reason;
    return 0;
  } catch (thrown) {
    return await reportFailure(thrown, { ...flags, verbose: 0 });
  }
}

/**
 * Compiles each worker that is offered as the entry of a program. The entry of a folder goes by the name of its program. Throws a
 * `UsageError` for a worker that no program has, and for two of one name.
 */
async function openWorkers(targets: readonly string[], flags: DoorFlags): Promise<readonly OfferedWorker[]> {
  const found: OfferedWorker[] = [];
  const known: string[] = [];
  for (const target of targets) {
    const { program } = await openProgram([target], flags, { toRun: true });
    const entry = program.entry.kind === "worker" ? program.entry.worker : undefined;
    const others = [...program.workers.values()].filter((worker) => worker !== entry);
    const name = entry?.name === "main" || !entry ? program.name : entry.name;
    known.push(name, ...others.map((one) => one.name));
    if (isWanted(flags, name, entry?.name)) found.push(offerWorker(name, program));
    for (const worker of others) {
      if (!isWanted(flags, worker.name)) continue;
      const opened = await openProgram([target], { ...flags, entry: worker.id }, { toRun: true, quiet: true });
      found.push(offerWorker(worker.name, opened.program));
    }
  }
  for (const name of flags.worker ?? [])
    if (!known.map(toOfferedName).includes(toOfferedName(name)) && name !== "main")
      throw new UsageError(`--worker ${name}: there is none of this name; there are ${known.join(", ")}`);
  const twice = found.find(({ name }, index) => found.findIndex((one) => one.name === name) !== index);
  if (twice) throw new UsageError(`two workers are called ${twice.name}; offer one of them, by --worker or by its file`);
  return found;
}

function isWanted({ worker: wanted }: DoorFlags, ...names: readonly (string | undefined)[]): boolean {
  return wanted === undefined || names.some((name) => name !== undefined && wanted.includes(name));
}
