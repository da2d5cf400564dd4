import type { PriceOverrides } from "../models/prices.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { type AgreementOptions, agrees, compareOutputs, freeTexts } from "../schema/agreement.ts";
import { type AskOptions, askCandidate } from "./ask-candidate.ts";
import { type CandidateSource, type OpenCandidate, openCandidate, type StepOfProgram } from "./candidate.ts";
import { type Case, expectedOutput } from "./case-file.ts";
import { type Answer, type Candidate, type CandidateReport, compareCandidates } from "./compare.ts";

export interface CompareStepRequest extends StepOfProgram, AgreementOptions, Omit<AskOptions, "onAnswer"> {
  readonly cases: readonly Case[];
  readonly candidates: readonly { readonly name: string; readonly source: CandidateSource }[];
  /** Asks the prompt of today first: its agreement with what it answered before is the noise floor. */
  readonly again?: boolean;
  /** A worker file that says whether two outputs mean the same: it takes `expected` and `output`, and gives a boolean. */
  readonly judge?: string;
  readonly prices?: PriceOverrides;
  readonly onProgress?: (done: number, all: number) => void;
}

export interface CompareStepReport {
  readonly step: string;
  readonly cases: readonly Case[];
  /** The noise floor first, where it was asked for. */
  readonly candidates: readonly CandidateReport[];
  /** Paths of the output that nothing compares. */
  readonly uncompared: readonly string[];
}

/** Outputs that nothing can compare, or cases that there are too few of. */
export class NothingToCompare extends Error {}

/**
 * Has each candidate answer each case in a copy of the program, and compares that with what was recorded or labelled. Side effects are
 * answered from the record alone. Rejects with `NothingToCompare` before anything is asked, and as `openCandidate` does.
 */
export async function compareStep(request: CompareStepRequest): Promise<CompareStepReport> {
  const { step, again = false, judge, candidates: given, onProgress } = request;
  const cases = request.cases.filter((one) => expectedOutput(one) !== undefined);
  if (cases.length === 0) throw new NothingToCompare(`there is no case of \`${step}\` with an output to compare with`);
  const sources = [...(again ? [{ name: "today's prompt", source: { type: "prompt" } as const }] : []), ...given];
  let done = 0;
  const onAnswer = () => onProgress?.(++done, cases.length * sources.length);
  const opened: { readonly name: string; readonly candidate: OpenCandidate }[] = [];
  try {
    // One after another: each may ask for trust.
    for (const { name, source } of sources) opened.push({ name, candidate: await openCandidate(request, source) });
    const schema = await schemaOfStep(request, opened[0]?.candidate);
    requireComparable(cases, schema, request);
    const answered: Candidate[] = [];
    for (const { name, candidate } of opened)
      answered.push({ name, answers: await askCandidate(candidate, cases, { ...request, onAnswer }) });
    const judged = judge === undefined ? undefined : await judgeAll(request, { cases, schema, answered, judge });
    const [floor, ...rest] = again ? answered : [undefined, ...answered];
    const reports = compareCandidates(
      cases,
      rest.filter((one) => one !== undefined),
      {
        schema,
        ...(request.within ? { within: request.within } : {}),
        ...(judged ? { judged } : {}),
        ...(floor ? { again: floor } : {}),
      },
    );
    return { step, cases, candidates: reports, uncompared: judge === undefined ? freeTexts(schema) : [] };
  } finally {
    for (const { candidate } of opened) await candidate.remove();
  }
}

/** The output schema of the step as it is today; a worker file that stands in for it may have another. */
async function schemaOfStep(request: CompareStepRequest, first: OpenCandidate | undefined): Promise<JsonSchema | undefined> {
  if (first?.worker.name === request.step) return first.worker.output?.jsonSchema;
  const today = await openCandidate(request, { type: "prompt" });
  await today.remove();
  return today.worker.output?.jsonSchema;
}

function requireComparable(cases: readonly Case[], schema: JsonSchema | undefined, { step, judge }: CompareStepRequest): void {
  const isComparable = (one: Case) => agrees(compareOutputs(schema, { one: one.output, other: one.output })) !== undefined;
  if (judge !== undefined || cases.some(isComparable)) return;
  throw new NothingToCompare(
    `what \`${step}\` gives is free text, and two texts can mean the same without being equal: name a worker that compares them ` +
      "(--judge same.worker), or give the worker an `output` with fields that can be compared",
  );
}

interface Judging {
  readonly cases: readonly Case[];
  readonly schema: JsonSchema | undefined;
  readonly answered: readonly Candidate[];
  readonly judge: string;
}

/** Asks the judge about each pair of outputs that holds free text and is not different without it. */
async function judgeAll(request: CompareStepRequest, { cases, schema, answered, judge }: Judging) {
  const opened = await openCandidate(request, { type: "worker", file: judge });
  const verdicts = new Map<string, boolean | undefined>();
  try {
    for (const { name, answers } of answered) {
      const pairs = cases.flatMap((one, index) => {
        const [answer, expected] = [answers[index], expectedOutput(one)];
        if (answer?.type !== "output" || expected === undefined) return [];
        const fields = compareOutputs(schema, { one: expected, other: answer.output }, request);
        const isOpen = agrees(fields) !== false && [...fields.values()].includes("uncompared");
        return isOpen ? [{ index, input: { expected, output: answer.output } }] : [];
      });
      const asked = pairs.map(({ input }) => ({ worker: judge, input, files: [], fragments: [], output: true }));
      const found = await askCandidate(opened, asked, { ...request, factsOf: async () => [] });
      for (const [at, { index }] of pairs.entries()) verdicts.set(`${name} ${index}`, verdictOf(found[at]));
    }
  } finally {
    await opened.remove();
  }
  return (index: number, candidate: string) => verdicts.get(`${candidate} ${index}`);
}

function verdictOf(answer: Answer | undefined): boolean | undefined {
  if (answer?.type !== "output") return undefined;
  const { output } = answer;
  const same = typeof output === "object" && output !== null && "same" in output ? output["same"] : output;
  return typeof same === "boolean" ? same : undefined;
}
