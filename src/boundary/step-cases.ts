import { dirname, join, resolve } from "node:path";
import type { Host } from "../host/host.ts";
import { expandTexts } from "../journal/expand-texts.ts";
import { readJournal } from "../journal/read-journal.ts";
import type { ProgramOfRun, RunStore } from "../journal/store.ts";
import { isAtOrBelow } from "../protocol/call.ts";
import type { Fact } from "../protocol/fact.ts";
import { errorMessage } from "../util/error-message.ts";
import { CandidateError } from "./candidate.ts";
import type { Case } from "./case-file.ts";
import { parseCase, printCase } from "./case-file.ts";
import { readCalls } from "./read-calls.ts";
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
  readonly cases: readonly Case[];
  readonly factsOf: (one: Case) => Promise<readonly Fact[]>;
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

/** Reads cases of a case file, or the recorded calls without a mark. Rejects with a `CandidateError` where the file cannot be read. */
export async function readStepCases(
  recorded: RecordedStep,
  { cases: file, last, limit = Number.POSITIVE_INFINITY }: CaseChoice,
): Promise<StepCases> {
  const { store } = recorded;
  const found = file === undefined ? await recordedCases(recorded, last) : await casesOfFile(recorded, file);
  const files = (one: Case) => one.from?.split("/", 1)[0] ?? "";
  return {
    cases: found.slice(0, limit),
    factsOf: async (one) => {
      const run = files(one);
      if (run === "" || one.from === undefined) return [];
      const path = one.from.slice(run.length + 1);
      // A case file can come from elsewhere: nothing is recorded of it here.
      return store
        .look(run, async (record) => {
          const { entries } = await readJournal(record);
          const own = entries.filter((entry) => "callPath" in entry && isAtOrBelow(entry.callPath, path));
          return expandTexts(record, { entries: own, longest: 20_000_000, total: 100_000_000, onMissing: missing });
        })
        .catch(() => []);
    },
    readFile: async (one, sha256) => {
      const folder = file === undefined ? undefined : join(dirname(resolve(file)), `${file.split("/").at(-1)}.files`);
      if (folder !== undefined) return recorded.host.files.readBytes(join(folder, sha256));
      return store.look(files(one), (record) => record.readPart("blobs", sha256));
    },
  };
}

function missing(digest: string): never {
  throw new Error(`a text of a call is gone (blob ${digest})`);
}

async function casesOfFile({ host, step }: RecordedStep, file: string): Promise<readonly Case[]> {
  try {
    return await readCaseFile(host, resolve(file), step);
  } catch (thrown) {
    throw new CandidateError(`${file}: ${errorMessage(thrown)}`, { cause: thrown });
  }
}

async function recordedCases({ store, step: worker, program }: RecordedStep, last = 200): Promise<readonly Case[]> {
  const cases: Case[] = [];
  for await (const call of readCalls(store, { worker, program: await program(), last })) {
    const one = parseCase(printCase(call), 1);
    if (one) cases.push(one);
  }
  return cases;
}
