import { basename, dirname, join, resolve } from "node:path";
import type { Host } from "../host/host.ts";
import { expandWhole } from "../journal/expand-texts.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { ProgramOfRun, RunStore } from "../journal/stores/store.ts";
import { isAtOrBelow } from "../protocol/call.ts";
import type { Fact, JournalEntry } from "../protocol/fact.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { readCalls } from "./calls/read-calls.ts";
import { CandidateError } from "./candidate.ts";
import type { Case } from "./case-file.ts";
import { parseCase, printCase } from "./case-file.ts";
import { readCaseFile } from "./read-case-file.ts";

export interface CaseChoice {
  /** A case file. Default: the recorded calls. */
  readonly cases?: string;
  /** The most recorded calls, the newest first. */
  readonly last?: number;
  /** The most cases. */
  readonly limit?: number;
}

/** The cases of a step, with what is recorded of them. */
export interface StepCases {
  /** How many there are. */
  readonly count: number;
  /** Reads them one after the other, from the first, each time that it is called. */
  readonly read: () => AsyncIterable<Case> | Iterable<Case>;
  /** Facts of the recorded call. */
  readonly factsOf: (one: Case) => Promise<readonly Fact[]>;
  /** The content of a file of a case. */
  readonly readFile: (one: Case, sha256: string) => Promise<Uint8Array>;
}

/** A step, and the store with its recorded calls. */
export interface RecordedStep {
  readonly host: Pick<Host, "files">;
  readonly step: string;
  readonly store: RunStore;
  /** Called where no case file is named. */
  readonly program: () => Promise<ProgramOfRun>;
}

/**
 * Finds the cases of a case file, or the recorded calls without a mark, as many as are asked for, and holds none of them. Rejects with a
 * `CandidateError` if one of these lines is no case, or the file cannot be read.
 */
export async function readStepCases(recorded: RecordedStep, choice: CaseChoice): Promise<StepCases> {
  const { cases: file } = choice;
  const found = file === undefined ? await recordedCases(recorded, choice) : await casesOfFile(recorded, file, choice);
  return {
    ...found,
    factsOf: factsIn(recorded.store),
    readFile: async (one, sha256) => {
      const folder = file === undefined ? undefined : join(dirname(resolve(file)), `${basename(file)}.files`);
      if (folder !== undefined) return recorded.host.files.readBytes(join(folder, sha256));
      return recorded.store.look(runOf(one), (record) => record.readPart("blobs", sha256));
    },
  };
}

function runOf({ from = "" }: Pick<Case, "from">): string {
  return from.split("/", 1)[0] ?? "";
}

/** Keeps the journal of the run that was asked for last: calls of one run follow each other. */
function factsIn(store: RunStore): StepCases["factsOf"] {
  let last: { readonly run: string; readonly entries: Promise<readonly JournalEntry[]> } | undefined;
  return async (one) => {
    const run = runOf(one);
    if (run === "" || one.from === undefined) return [];
    const path = one.from.slice(run.length + 1);
    if (last?.run !== run)
      last = { run, entries: store.look(run, async (record) => (await readJournal(record)).entries).catch(() => []) };
    // A case file can come from elsewhere: nothing is recorded of it here.
    const own = (await last.entries).filter((entry) => "callPath" in entry && isAtOrBelow(entry.callPath, path));
    if (own.length === 0) return [];
    return store.look(run, (record) => expandWhole(record, own)).catch(() => []);
  };
}

type FoundCases = Pick<StepCases, "count" | "read">;

async function casesOfFile({ step }: RecordedStep, file: string, { limit }: CaseChoice): Promise<FoundCases> {
  const read = async function* () {
    try {
      yield* upTo(readCaseFile(resolve(file), step), limit);
    } catch (thrown) {
      throw new CandidateError(`${file}: ${errorMessage(thrown)}`, { cause: thrown });
    }
  };
  let count = 0;
  // Each line is read before anything is asked.
  for await (const _ of read()) count++;
  return { count, read };
}

/** Remembers which calls there are, so that a run that is recorded meanwhile changes nothing. */
async function recordedCases(
  { store, step: worker, program }: RecordedStep,
  { last = 200, limit }: CaseChoice,
): Promise<FoundCases> {
  const calls = new Map<string, Set<string>>();
  let count = 0;
  for await (const { from } of upTo(readCalls(store, { worker, program: await program(), last }), limit)) {
    const run = runOf({ from });
    calls.set(run, (calls.get(run) ?? new Set()).add(from));
    count++;
  }
  const read = async function* () {
    for (const [run, own] of calls)
      for await (const call of readCalls(store, { worker, run })) {
        const one = own.has(call.from) ? parseCase(printCase(call), 1) : undefined;
        if (one) yield one;
      }
  };
  return { count, read };
}

async function* upTo<T>(items: AsyncIterable<T>, most = Number.POSITIVE_INFINITY): AsyncGenerator<T, void> {
  let left = most;
  if (left > 0)
    for await (const item of items) {
      yield item;
      if (--left <= 0) return;
    }
}
