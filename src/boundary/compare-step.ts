import type { FilePart } from "../protocol/message.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { type AgreementOptions, agrees, compareOutputs, freeTexts } from "../schema/agreement.ts";
import { inOrder } from "../util/async/in-order.ts";
import { type AskOptions, createAsker, defaultParallel, type RecordedCase } from "./ask-candidate.ts";
import { CandidateError, type CandidateSource, type OpenCandidate, openCandidate, type StepOfProgram } from "./candidate.ts";
import { type Case, expectedOutput } from "./case-file.ts";
import { type Answer, type CandidateReport, Comparison, type Judged } from "./compare.ts";
import type { StepCases } from "./step-cases.ts";

export interface CompareStepRequest extends StepOfProgram, AgreementOptions, AskOptions {
  readonly cases: StepCases;
  readonly candidates: readonly { readonly name: string; readonly source: CandidateSource }[];
  /** Asks the prompt of today first: its agreement with what it answered before is the noise floor. */
  readonly again?: boolean;
  /** A worker file that says whether two outputs mean the same: it takes `expected` and `output`, and gives a boolean. */
  readonly judge?: string;
  readonly onProgress?: (done: number, all: number) => void;
  /** Called with each case about which a candidate disagrees, in their order. */
  readonly onDisagreement?: (one: Case) => Promise<void>;
}

export interface CompareStepReport {
  readonly step: string;
  /** How many cases were asked. */
  readonly cases: number;
  /** The noise floor first, where it was asked for. */
  readonly candidates: readonly CandidateReport[];
  /** Paths of the output that nothing compares. */
  readonly uncompared: readonly string[];
}

/** Outputs that nothing can compare, or cases that there are too few of. */
export class NothingToCompare extends CandidateError {}

/**
 * Has each candidate answer each case in a copy of the program, and compares that with what was recorded or labelled. Cases are read as they
 * are asked. Side effects are answered from the record alone. Rejects with `NothingToCompare` before anything is asked, and as
 * `openCandidate` does.
 */
export async function compareStep(request: CompareStepRequest): Promise<CompareStepReport> {
  const { step, again = false, judge, candidates, cases, onDisagreement } = request;
  if (!(await someCase(cases, (one) => expectedOutput(one) !== undefined)))
    throw new NothingToCompare(`there is no case of \`${step}\` with an output to compare with`);
  const sources = [...(again ? [{ name: "today's prompt", source: { type: "prompt" } as const }] : []), ...candidates];
  const opened: OpenCandidate[] = [];
  try {
    // One after another: each may ask for trust.
    for (const { source } of sources) opened.push(await openCandidate(request, source));
    const schema = await schemaOfStep(request, opened[0]);
    await requireComparable(request, schema);
    const asked = [...opened];
    const judging = judge === undefined ? undefined : await openCandidate(request, { type: "worker", file: judge });
    if (judging) opened.push(judging);
    const { within } = request;
    const names = sources.map(({ name }) => name);
    const comparison = new Comparison({ schema, names, again, ...(within ? { within } : {}) });
    for await (const { one, answers } of answersOf(request, { asked, judging, schema }))
      if (comparison.add(one, answers)) await onDisagreement?.(one);
    return {
      ...{ step, cases: comparison.count, candidates: comparison.reports() },
      uncompared: judge === undefined ? freeTexts(schema) : [],
    };
  } finally {
    for (const candidate of opened) await candidate.remove();
  }
}

/** Returns whether a case fits, and reads no further. */
export async function someCase({ read }: StepCases, fits: (one: Case) => boolean): Promise<boolean> {
  for await (const one of read()) if (fits(one)) return true;
  return false;
}

interface Opened {
  readonly asked: readonly OpenCandidate[];
  readonly judging: OpenCandidate | undefined;
  readonly schema: JsonSchema | undefined;
}

/** Yields the cases with an output to compare with, in their order, each with the answers of all candidates. */
async function* answersOf(request: CompareStepRequest, { asked, judging, schema }: Opened) {
  const { cases, parallel = defaultParallel, signal, onProgress } = request;
  const askers = asked.map((candidate) => ({
    ask: createAsker(candidate, request),
    judge: judging && createAsker(judging, request),
  }));
  const all = cases.count * askers.length;
  let done = 0;
  const comparable = async function* () {
    for await (const one of cases.read()) {
      if (expectedOutput(one) !== undefined) yield one;
      else done += askers.length;
    }
  };
  const answer = async (one: Case) => {
    signal?.throwIfAborted();
    const [facts, files] = await Promise.all([cases.factsOf(one), filesOf(one, cases)]);
    const answers: Judged[] = [];
    for (const { ask, judge } of askers) {
      const given = await ask({ one, facts, files });
      const pair = judge && openPair(one, given, { schema, request });
      answers.push({ answer: given, isSame: pair && verdictOf(await judge(pair)) });
      onProgress?.(++done, all);
    }
    return { one, answers };
  };
  const running = new Set<Promise<unknown>>();
  const tracked = (one: Case) => {
    const pending = answer(one).finally(() => running.delete(pending));
    running.add(pending);
    return pending;
  };
  try {
    yield* inOrder(comparable(), tracked, { parallel, ahead: parallel });
  } finally {
    // A copy is in use until the last one is answered.
    await Promise.allSettled(running);
  }
}

async function filesOf(one: Case, { readFile }: StepCases): Promise<readonly FilePart[]> {
  return Promise.all(
    one.files.map(async ({ name, mediaType, bytes, sha256 }) => {
      const data = Buffer.from(await readFile(one, sha256)).toString("base64");
      return { type: "file" as const, name, mediaType, bytes, sha256, data };
    }),
  );
}

/** The output schema of the step as it is today; a worker file that stands in for it may have another. */
async function schemaOfStep(request: CompareStepRequest, first: OpenCandidate | undefined): Promise<JsonSchema | undefined> {
  if (first?.worker.name === request.step) return first.worker.output?.jsonSchema;
  const today = await openCandidate(request, { type: "prompt" });
  await today.remove();
  return today.worker.output?.jsonSchema;
}

export async function requireComparable(
  { cases, step, judge }: Pick<CompareStepRequest, "cases" | "step" | "judge">,
  schema: JsonSchema | undefined,
): Promise<void> {
  const isComparable = (one: Case) => agrees(compareOutputs(schema, { one: one.output, other: one.output })) !== undefined;
  if (judge !== undefined || (await someCase(cases, isComparable))) return;
  throw new NothingToCompare(
    `what \`${step}\` gives is free text, and two texts can mean the same without being equal: name a worker that compares them ` +
      "(`--judge same.worker`, in code `judge`), or give the worker an `output` with fields that can be compared",
  );
}

/** What the judge is asked: about two outputs that hold free text and are not different without it. */
function openPair(
  one: Case,
  answer: Answer,
  { schema, request }: { readonly schema: JsonSchema | undefined; readonly request: AgreementOptions },
): RecordedCase | undefined {
  const expected = expectedOutput(one);
  if (answer.type !== "output" || expected === undefined) return undefined;
  const fields = compareOutputs(schema, { one: expected, other: answer.output }, request);
  const isOpen = agrees(fields) !== false && [...fields.values()].includes("uncompared");
  return isOpen ? { one: { input: { expected, output: answer.output }, fragments: [] }, facts: [], files: [] } : undefined;
}

function verdictOf(answer: Answer): boolean | undefined {
  if (answer.type !== "output") return undefined;
  const { output } = answer;
  const same = typeof output === "object" && output !== null && "same" in output ? output["same"] : output;
  return typeof same === "boolean" ? same : undefined;
}
