import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type CallsQuery, readCalls } from "../../../boundary/calls/read-calls.ts";
import type { RecordedCall } from "../../../boundary/calls/recorded-calls.ts";
import { CaseLineError, printCase } from "../../../boundary/case-file.ts";
import type { RunStore } from "../../../journal/stores/store.ts";
import { renderCall, renderCallsFoot } from "../../../ui/records/render-calls.ts";
import { escapeText } from "../../../util/text/escape-text.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { writeResult, writeStderr } from "../../output.ts";
import { createNewFile } from "../../programs/new-file.ts";
import { copyCaseFiles } from "../../records/copy-case-files.ts";
import { findRun, programOfTarget, storeOfUser } from "../../records/find-runs.ts";
import { findWorker, requireWorker } from "../../records/find-step.ts";
import { reviewCases } from "../../terminal/review-cases.ts";

export interface CallsFlags extends Pick<CallsQuery, "since" | "outcome" | "by" | "model" | "run" | "all"> {
  /** The most calls. Default: 50; with --json or --out all of them. */
  readonly last?: number;
  readonly json?: boolean;
  /** A case file that is written. */
  readonly out?: string;
  /** Has a person judge the cases of the file, which is written first where it is not there. */
  readonly review?: boolean;
}

/** The default number of calls in a table. */
const latest = 50;

/** `llm-do calls STEP [TARGET]`: what a worker was asked in recorded runs, and what it answered. */
export async function callsCommand(worker: string, target: string | undefined, flags: CallsFlags): Promise<number> {
  const { json, out, review, last = json || out !== undefined ? undefined : latest, ...query } = flags;
  if (out !== undefined && !/\.jsonl$/.test(out)) throw new UsageError(`--out ${out}: a case file ends in .jsonl`);
  if (review && (out === undefined || json))
    throw new UsageError("--review judges the cases of a file: name it with --out FILE.jsonl");
  if (out !== undefined && existsSync(out)) {
    if (review) return await reviewFile(worker, target, out);
    throw new UsageError(`--out ${out}: there is such a file; --review goes on with it`);
  }
  const found = flags.run === undefined ? undefined : await findRun({ run: flags.run, target });
  const program = found?.isForeign ? undefined : await programOfTarget(target);
  const store = found?.store ?? storeOfUser();
  let dropped = 0;
  const unreadable = (run: string, problem: string) => {
    dropped++;
    writeStderr(`llm-do: the run ${run} is left out: ${escapeText(problem)}\n`);
  };
  const given = {
    ...{ ...query, worker, onUnreadable: unreadable },
    ...(program ? { program } : {}),
    ...(found ? { run: found.runId } : {}),
    ...(last === undefined ? {} : { last }),
  };
  const calls = readCalls(store, given);
  const count = out === undefined ? await printCalls(calls, json ?? false) : await writeCases(calls, { path: out, store });
  if (count === 0) await explainNone(worker, target, flags);
  else if (review && out !== undefined) return await reviewFile(worker, target, out);
  return dropped > 0 && count === 0 ? exitCodes.failed : exitCodes.done;
}

async function reviewFile(worker: string, target: string | undefined, path: string): Promise<number> {
  const { worker: step } = await requireWorker(worker, target);
  const written = await reviewCases(resolve(path), { worker, output: step.output }).catch((thrown) => {
    throw thrown instanceof CaseLineError ? new UsageError(`${path}: ${thrown.message}`) : thrown;
  });
  writeStderr(`llm-do: ${written} ${written === 1 ? "label" : "labels"} written into ${path}\n`);
  return exitCodes.done;
}

async function printCalls(calls: AsyncIterable<RecordedCall>, asJson: boolean): Promise<number> {
  let count = 0;
  const sum = { code: 0, known: 0, usd: 0 };
  for await (const call of calls) {
    count++;
    if (asJson) await writeResult(`${JSON.stringify(call)}\n`);
    else {
      if (call.by === "code") sum.code++;
      if (call.usd !== undefined) sum.known++;
      sum.usd += call.usd ?? 0;
      await writeResult(renderCall(call, process.stdout.columns || 80));
    }
  }
  if (count > 0 && !asJson) await writeResult(renderCallsFoot({ ...sum, count }));
  return count;
}

/** Writes a case file whole or not at all, and the files of the calls beside it, each by its digest. */
async function writeCases(
  calls: AsyncIterable<RecordedCall>,
  { path, store }: { readonly path: string; readonly store: RunStore },
): Promise<number> {
  await using file = await createNewFile(path);
  let count = 0;
  let passed = 0;
  for await (const call of calls) {
    if (call.output === undefined || call.marks.includes("secret")) {
      passed++;
      continue;
    }
    await copyFiles(call, { folder: `${resolve(path)}.files`, store });
    await file.write(printCase(call));
    count++;
  }
  const left = passed === 0 ? "" : `; ${passed} without an output, or with a secret, left out`;
  if (count === 0) return 0;
  await file.finish();
  writeStderr(`llm-do: ${count} ${count === 1 ? "case" : "cases"} in ${path}${left}\n`);
  return count;
}

async function copyFiles(
  { from, files }: RecordedCall,
  { folder, store }: { readonly folder: string; readonly store: RunStore },
): Promise<void> {
  if (files.length === 0) return;
  const [run = ""] = from.split("/");
  await store.look(run, (record) => copyCaseFiles(files, folder, (sha256) => record.readPart("blobs", sha256)));
}

/** Says why there is nothing: no such worker, no such calls, or none without marks. */
async function explainNone(worker: string, target: string | undefined, flags: CallsFlags): Promise<void> {
  const found = await findWorker(worker, target);
  if (!("worker" in found)) {
    writeStderr(`llm-do: the program has no worker \`${worker}\` today, and no run recorded a call of it; ${found.hint}\n`);
    return;
  }
  const more = flags.all ? "" : "; --all shows those that were denied, edited, cut, repeated, or that failed, too";
  writeStderr(`llm-do: no recorded call of \`${worker}\` fits${more}\n`);
}
