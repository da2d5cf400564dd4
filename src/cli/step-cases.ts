import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Case } from "../boundary/case-file.ts";
import { parseCase, printCase } from "../boundary/case-file.ts";
import { readCalls } from "../boundary/read-calls.ts";
import { readCaseFile } from "../boundary/read-case-file.ts";
import type { Host } from "../host/host.ts";
import { expandTexts } from "../journal/expand-texts.ts";
import { readJournal } from "../journal/read-journal.ts";
import { isAtOrBelow } from "../protocol/call.ts";
import type { Fact } from "../protocol/fact.ts";
import { errorMessage } from "../util/error-message.ts";
import { UsageError } from "./exit-codes.ts";
import { programOfTarget, storeOfUser } from "./find-runs.ts";

export interface CaseFlags {
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

/** Reads the cases that a command is about: of a case file, or the recorded calls without a mark. */
export async function readStepCases(
  { host, step, target }: { readonly host: Host; readonly step: string; readonly target: string | undefined },
  { cases: file, last, limit = Number.POSITIVE_INFINITY }: CaseFlags,
): Promise<StepCases> {
  const found = file === undefined ? await recordedCases(step, target, last) : await casesOfFile(host, file, step);
  const store = storeOfUser();
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
      if (file !== undefined) return readFile(join(dirname(resolve(file)), `${file.split("/").at(-1)}.files`, sha256));
      return store.look(files(one), (record) => record.readPart("blobs", sha256));
    },
  };
}

function missing(digest: string): never {
  throw new Error(`a text of a call is gone (blob ${digest})`);
}

async function casesOfFile(host: Host, file: string, step: string): Promise<readonly Case[]> {
  try {
    return await readCaseFile(host, resolve(file), step);
  } catch (thrown) {
    throw new UsageError(`${file}: ${errorMessage(thrown)}`);
  }
}

async function recordedCases(worker: string, target: string | undefined, last = 200): Promise<readonly Case[]> {
  const cases: Case[] = [];
  for await (const call of readCalls(storeOfUser(), { worker, program: await programOfTarget(target), last })) {
    const one = parseCase(printCase(call), 1);
    if (one) cases.push(one);
  }
  return cases;
}
