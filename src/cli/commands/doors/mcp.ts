import { Readable } from "node:stream";
import type { Command } from "commander";
import { type OfferedWorker, offerWorker, toOfferedName } from "../../../doors/offered-worker.ts";
import { UsageError } from "../../exit-codes.ts";
import { printConfig } from "../../programs/client-config.ts";
import { openProgram } from "../../programs/open-program.ts";
import { serveDoor } from "../../programs/serve-door.ts";
import type { RunFlags } from "../../run/run-flags.ts";

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
  const { printConfig: form, hold = false, askClient = false, approvalTimeout = defaultPatience } = flags;
  if (form) return printConfig({ form, targets, flags, command });
  return serveDoor(flags, askClient, async ({ input, note, flags: ofRuns, ...parts }) => {
    if (hold && askClient) throw new UsageError("--ask-client asks what --hold holds: leave one out");
    const workers = await openWorkers(targets.length === 0 ? ["."] : targets, { ...flags, ...ofRuns });
    const { serveMcp } = await import("../../../doors/mcp/door.ts");
    note(`offers ${workers.map(({ name }) => name).join(", ")}`);
    await serveMcp({
      ...{ ...parts, workers, askClient, input: Readable.from(input), outlivesClient: hold },
      after: (milliseconds, expire) => {
        const timer = setTimeout(expire, milliseconds);
        return () => clearTimeout(timer);
      },
      patience: approvalTimeout * 1000,
      onProblem: ({ message }) => note(message),
    });
  });
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
