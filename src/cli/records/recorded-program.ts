import { join } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { describeCodeWorkers } from "../../journal/code-workers.ts";
import { readJournalEnds, readRecord } from "../../journal/read-journal.ts";
import type { CompiledWith, Fact, FactOf, JournalEntry, ProgramOptions } from "../../protocol/fact.ts";
import { show } from "../../ui/explain/phrases.ts";
import { isWithin } from "../../util/within.ts";
import { UsageError } from "../exit-codes.ts";
import type { CompileFlags } from "../programs/open-program.ts";
import type { FoundRun } from "./find-runs.ts";

/** A recorded run, and the options that its program was compiled with. */
export interface RecordedProgram {
  readonly found: FoundRun;
  /** Undefined if a run of an earlier version has no record of them. */
  readonly compiled: CompiledWith | undefined;
}

/** The request by which a command compiles a recorded run. The record speaks for the program, and never for the user. */
export interface RecordedSource<F> {
  readonly targets: readonly string[];
  readonly flags: F;
  readonly ofProgram: ProgramOptions;
}

/** Reads the options from the first entry of the run's journal. Rejects if that cannot be read. */
export async function readCompiled(found: FoundRun): Promise<CompiledWith | undefined> {
  return (await readStart(found)).compiled;
}

/** Reads the first entry of a run. Rejects with a `UsageError` for a run that was killed before it wrote one. */
export async function readStart(found: FoundRun): Promise<FactOf<"run-start">> {
  const start = startOf(found, (await found.store.look(found.runId, readJournalEnds)).first);
  // A long text is kept apart, and the ends of a journal are read without it.
  const isWhole = ({ compiled }: FactOf<"run-start">) =>
    [...(compiled?.set ?? []), ...(compiled?.modelFor ?? [])].every((one) => typeof one === "string");
  if (isWhole(start)) return start;
  const whole = startOf(found, (await found.store.look(found.runId, readRecord)).facts[0]);
  if (isWhole(whole)) return whole;
  throw new UsageError(`the options of ${found.runId} are not kept with its record: it cannot be compiled as it was`);
}

function startOf({ runId }: FoundRun, first: Fact | JournalEntry | undefined): FactOf<"run-start"> {
  if (first?.type === "run-start") return first;
  throw new UsageError(`nothing is recorded of \`${runId}\`: it ended before it began`);
}

/**
 * Returns the files that were compiled, in the program's folder of today, and the options, over which today's flags hold. Rejects
 * with a `UsageError` if the record names a file outside of that folder.
 */
export async function sourceOf<F extends CompileFlags>(
  { found, compiled = { target: "." } }: RecordedProgram,
  flags: F,
): Promise<RecordedSource<F>> {
  const { entry, target, files = [target], workers, ...ofProgram } = compiled;
  if (workers) throw new UsageError(describeCodeWorkers(found.runId, workers));
  const targets = files.map((path) => join(found.root, path));
  await requireInside(found, targets);
  return { targets, flags: { ...(entry === undefined ? {} : { entry }), ...flags }, ofProgram };
}

async function requireInside({ runId, root }: FoundRun, targets: readonly string[]): Promise<void> {
  const { files } = createNodeHost();
  const realPath = (path: string) => files.realPath(path).catch(() => path);
  const real = await realPath(root);
  for (const path of targets) {
    if (isWithin(path, root) && isWithin(await realPath(path), real)) continue;
    throw new UsageError(`the record of ${runId} names ${show(path)}, which is not in the program's folder ${show(root)}`);
  }
}
