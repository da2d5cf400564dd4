import { join } from "node:path";
import type { Host } from "../host/host.ts";
import { readJournalEnds } from "../journal/read-journal.ts";
import type { CompiledWith, FactOf, JournalEntry } from "../protocol/fact.ts";
import { UsageError } from "./exit-codes.ts";
import type { FoundRun } from "./find-runs.ts";
import type { CompileFlags } from "./open-program.ts";

/** A recorded run, and the options that its program was compiled with. */
export interface RecordedProgram {
  readonly found: FoundRun;
  /** Undefined where a run of an earlier version has no record of them. */
  readonly compiled: CompiledWith | undefined;
}

/** Reads the options from the first entry of the run's journal. Rejects where that cannot be read. */
export async function readCompiled(host: Host, found: FoundRun): Promise<CompiledWith | undefined> {
  return startOf(found, (await readJournalEnds(host, found.directory)).first).compiled;
}

/** Returns the start of a run, by its first entry. Throws a `UsageError` for a run that was killed before it wrote one. */
export function startOf({ runId }: FoundRun, first: JournalEntry | undefined): FactOf<"run-start"> {
  if (first?.type === "run-start") return first;
  throw new UsageError(`nothing is recorded of \`${runId}\`: it ended before it began`);
}

/** The files that were compiled, in the program's folder of today. */
export function targetsOf({ found, compiled }: RecordedProgram): readonly string[] {
  return (compiled?.files ?? [compiled?.target ?? "."]).map((path) => join(found.root, path));
}

/** The flags of the run, and over them those of today. */
export function flagsOf<F extends CompileFlags>({ compiled = { target: "." } }: RecordedProgram, flags: F): F {
  const { entry, model, set = [], modelFor = [] } = compiled;
  return {
    ...(entry === undefined ? {} : { entry }),
    ...(model === undefined ? {} : { model }),
    ...flags,
    set: [...set, ...(flags.set ?? [])],
    modelFor: [...modelFor, ...(flags.modelFor ?? [])],
  };
}
