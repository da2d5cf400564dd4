import { dirname, join } from "node:path";
import { findTaken } from "../../host/files/new-files.ts";
import type { Worker } from "../../program/program.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { printProgram } from "../../toolsets/kept-program.ts";
import { createAsker } from "../ask-candidate.ts";
import { CandidateError, type OpenCandidate, openCandidate, trustToday } from "../candidate.ts";
import { type Case, digestOfCase, expectedOutput } from "../case-file.ts";
import type { CandidateReport } from "../compare.ts";
import { compareStep, requireComparable, someCase } from "../compare-step.ts";
import { type FunctionJudgement, type FunctionRequest, fewestCalls, judgeFunction } from "../stabilise.ts";
import type { StepCases } from "../step-cases.ts";
import { printType } from "../types/print-type.ts";
import { writerFile, writerText } from "./writer.ts";

export interface DraftRequest extends Omit<FunctionRequest, "candidate"> {
  /** The most drafts. Default: 5. */
  readonly rounds?: number;
}

/** A function that a model wrote from recorded calls. It runs in the interpreter, and calls nothing. */
export interface Draft {
  /** As `code` of the worker names it. */
  readonly reference: string;
  /** A new file, relative to the program's folder. */
  readonly file: string;
  readonly text: string;
  /** How many drafts were written. */
  readonly rounds: number;
  /** How many calls the model was shown, at most. */
  readonly seen: number;
  /** The savings at a thousand calls like those that its writer did not see. */
  readonly saves: Savings;
}

export interface Savings {
  /** The share of the calls that it answers. */
  readonly share: number;
  /** Less those that the function takes. */
  readonly seconds: number;
  /** Undefined if the price of a call is unknown. */
  readonly usd: number | undefined;
}

export interface DraftJudgement extends FunctionJudgement {
  /** Absent if none was written. The figures are over the calls that its writer did not see. */
  readonly draft?: Draft;
}

/** The most that the writer is shown: cases, those that a draft missed, and the characters of all of them. */
const most = { cases: 200, misses: 20, characters: 100_000 };

/** The share of the calls that the writer may see. */
const seenShare = 0.7;

/**
 * Has a model write a function from a part of the recorded calls, and judges it by the others, which the model does not see. Writes nothing.
 * Rejects as `compareStep` does, and with a `CandidateError` if there is no model, or the name of the file is taken.
 */
export async function draftFunction(given: DraftRequest): Promise<DraftJudgement> {
  await trustToday(given);
  const request = { ...given, trust: true };
  const { root, step, file, cases } = request;
  const name = `${step.replaceAll("-", "_")}_code`;
  const draftFile = join(dirname(file), `${name}.program.js`);
  const [taken] = await findTaken(root, [draftFile]);
  if (taken !== undefined)
    throw new CandidateError(`${taken}: there is such a file; --with ${name}.program.js:${name} compares it`);
  const [seen, heldBack] = await splitCases(cases);
  if (heldBack.count < fewestCalls)
    return { obstacle: `of ${cases.count} calls, ${heldBack.count} are held back to judge it by; ${fewestCalls} are the fewest` };
  if (await someCase(cases, ({ files }) => files.length > 0))
    return { obstacle: "its input has files, and a draft gets none: write a function, and name it --with tools.ts:NAME" };
  const today = await openCandidate(request, { type: "prompt" });
  await today.remove();
  const own = { ...request, cases: seen };
  await requireComparable(own, today.worker.output?.jsonSchema);
  const model = request.model ?? today.worker.model?.id;
  const asWriter = { ...request, ...(model === undefined ? {} : { model }) };
  const writer = await openCandidate(asWriter, { type: "worker", file: writerFile, text: writerText });
  try {
    const best = await writeBest({ request: own, writer, name, task: await describeTask(own, today.worker) });
    const { text, rounds } = best;
    const reference = `${name}.program.js:${name}`;
    const candidate = { name: reference, source: { type: "code", reference, text } } as const;
    const judged = await judgeFunction({ ...request, cases: heldBack, candidate });
    const saves = await savingsOf(heldBack, judged);
    return { ...judged, draft: { reference, file: draftFile, text, rounds, seen: Math.min(seen.count, most.cases), saves } };
  } finally {
    await writer.remove();
  }
}

/** By the recorded time and dollars of the prompt, and the time that the function took. */
async function savingsOf(cases: StepCases, { report }: FunctionJudgement): Promise<Savings> {
  const judged = report?.candidates.at(-1);
  const asked: Case[] = [];
  for await (const one of cases.read()) if (one.by !== "code") asked.push(one);
  const answered = judged ? judged.agreement.count - judged.failed + judged.uncompared : 0;
  const share = answered / Math.max(1, report?.cases ?? 0);
  const perThousand = (values: readonly number[]) =>
    (1_000 * share * values.reduce((sum, value) => sum + value, 0)) / values.length;
  const usd = asked.flatMap((one) => one.usd ?? []);
  return {
    share,
    // Its milliseconds of one call are the seconds of a thousand.
    seconds: asked.length > 0 ? perThousand(asked.map(({ ms = 0 }) => ms / 1000)) - (judged?.median || 0) : 0,
    usd: asked.length > 0 && usd.length === asked.length ? perThousand(usd) : undefined,
  };
}

/** By the digests of the inputs, so that one input is always on one side. */
async function splitCases(cases: StepCases): Promise<readonly [seen: StepCases, heldBack: StepCases]> {
  const digests = new Set<string>();
  for await (const one of cases.read()) digests.add(digestOfCase(one));
  const bound = [...digests].sort()[Math.floor(seenShare * digests.size)] ?? "";
  const isSeen = (one: Case) => digestOfCase(one) < bound;
  return [await part(cases, isSeen), await part(cases, (one) => !isSeen(one))];
}

async function part(cases: StepCases, fits: (one: Case) => boolean): Promise<StepCases> {
  const read = async function* () {
    for await (const one of cases.read()) if (fits(one)) yield one;
  };
  let count = 0;
  for await (const _ of read()) count++;
  return { ...cases, count, read };
}

interface Writing {
  /** Its cases are those that the writer may see. */
  readonly request: DraftRequest;
  readonly writer: OpenCandidate;
  readonly name: string;
  readonly task: JsonObject;
}

interface Written {
  readonly source: string;
  readonly text: string;
  readonly report: CandidateReport;
}

/** Writes drafts, each from what the one before missed, until one misses nothing or is no better. */
async function writeBest({ request, writer, name, task }: Writing): Promise<Written & { readonly rounds: number }> {
  const { step, usd, prices, signal, rounds = 5, again: _, ...rest } = request;
  const asker = createAsker(writer, { parallel: 1, usd, ...(prices ? { prices } : {}), signal });
  let best: Written | undefined;
  let round = 0;
  while (round < rounds) {
    const input = { ...task, ...(best ? { earlier: best.source, misses: missesOf(best.report) } : {}) };
    const answer = await asker({ one: { input, fragments: [] }, facts: [], files: [] });
    if (answer.type !== "output") {
      if (best) break;
      throw new CandidateError(`no draft of \`${step}\` was written: ${answer.reason}`);
    }
    round++;
    const source = String((answer.output as JsonObject)["source"]);
    if (source === best?.source) break;
    const text = printProgram({ description: `Answers ${step} where it can.`, input: { type: "object" }, calls: [] }, source);
    const candidate = { name, source: { type: "code", reference: `${name}.program.js:${name}`, text } } as const;
    const limits = { usd, signal, ...(prices ? { prices } : {}) };
    const { candidates } = await compareStep({ ...rest, step, ...limits, candidates: [candidate] });
    const [report] = candidates;
    if (!report) throw new Error("invariant: a comparison of one candidate reports none");
    if (best && report.agreement.lower <= best.report.agreement.lower) break;
    best = { source, text, report };
    if (report.agreement.hits === request.cases.count) break;
  }
  if (!best) throw new CandidateError("at least one draft has to be written (--rounds)");
  return { ...best, rounds: round };
}

/** The writer's input, all of it data. */
async function describeTask({ host, root, file, cases }: DraftRequest, { input, output }: Worker): Promise<JsonObject> {
  const shown: JsonValue[] = [];
  let characters = 0;
  for await (const one of cases.read()) {
    const expected = expectedOutput(one);
    if (expected === undefined) continue;
    const line = { input: one.input, output: expected };
    characters += JSON.stringify(line).length;
    if (shown.length >= most.cases || characters > most.characters) break;
    shown.push(line);
  }
  return {
    worker: await host.files.readText(join(root, file)),
    input_type: printType(input.jsonSchema),
    output_type: output ? printType(output.jsonSchema) : "string",
    cases: shown,
  };
}

function missesOf({ disagreements, unanswered }: CandidateReport): readonly JsonObject[] {
  const wrong = disagreements.map(({ asked, expected, output }) => ({ input: asked.input, expected, got: output }));
  const failed = unanswered.map(({ asked, type, reason }) => ({
    input: asked.input,
    expected: expectedOutput(asked) ?? null,
    [type]: reason,
  }));
  return [...wrong.slice(0, most.misses), ...failed.slice(0, most.misses)];
}
