import { isDecision } from "../approval/asking/put-question.ts";
import { askedSchema, openQuestions, shownIn } from "../effects/open-questions.ts";
import type { Host } from "../host/host.ts";
import { readRecord } from "../journal/read-journal.ts";
import { findRecord, type RunReference, referenceTable } from "../journal/stores/find-store.ts";
import { findOwnerState } from "../journal/stores/owner.ts";
import { CannotResume, type RecordReader } from "../journal/stores/record-place.ts";
import type { ApprovalDecision, OpenQuestion } from "../protocol/approval.ts";
import type { Fact, FactOf } from "../protocol/fact.ts";
import type { JsonValue } from "../protocol/json.ts";
import { fromJsonSchema } from "../schema/from-json-schema.ts";
import { renderIssues } from "../schema/schema.ts";
import { checkOptions, listOf, type OptionTable, objectOption } from "../util/check-options.ts";
import { environmentSecrets, Redactor } from "../util/secrets/redactor.ts";
import { readCredentials } from "./credentials.ts";

export { CannotResume } from "../journal/stores/record-place.ts";

/** The questions of a run that wait, and the run. Plain data: it can be sent to whoever answers. */
export interface WaitingRun {
  readonly runId: string;
  readonly questions: readonly OpenQuestion[];
}

export interface QuestionsRequest extends RunReference {
  /** Default: this machine. */
  readonly host?: Host;
}

/** `id`: of the open question that this answers. */
export interface QuestionAnswer {
  readonly id: string;
  readonly decision: ApprovalDecision;
}

export interface AnswerRequest extends QuestionsRequest {
  readonly answers: readonly QuestionAnswer[];
}

/**
 * Lists the questions of a suspended or killed run, in the order of their call paths; none of a run that has ended or is executed.
 * Rejects if the journal cannot be read.
 */
export async function listQuestions(request: QuestionsRequest): Promise<WaitingRun> {
  checkOptions(request, { path: "listQuestions", table: questionsTable });
  const host = await hostOf(request);
  const { store, id } = findRecord(host, request);
  const known = await knownSecrets(host);
  return store.look(id, async (record) => {
    const { facts } = await readRecord(record, known);
    return { runId: id, questions: isWaiting(host, record, facts) ? openQuestions(facts) : [] };
  });
}

/**
 * Says why edited arguments do not fit the tool that a question is about; undefined if they do, and for a call of code, whose schema
 * no record has: it is checked when the run goes on.
 */
export async function argumentsProblem(request: QuestionsRequest & { readonly id: string; readonly args: JsonValue }) {
  const { id, args } = request;
  const host = await hostOf(request);
  const found = findRecord(host, request);
  const { facts } = await found.store.read(found.id, await knownSecrets(host));
  const question = openQuestions(facts).find((one) => one.id === id);
  const schema = question && askedSchema(facts, question);
  const checked = schema && (await fromJsonSchema(schema).validate(args));
  return !checked || checked.ok
    ? undefined
    : `the arguments of \`${question.request.tool}\` do not fit: ${renderIssues(checked.issues)}`;
}

/**
 * Records answers, all or none. They take effect when the run goes on; until then a later answer replaces an earlier one. Rejects with an
 * `Error` if a question does not wait (any more), asks about something else by now, its new arguments do not fit the tool, or the run
 * is executed.
 */
export async function answerQuestions(request: AnswerRequest): Promise<WaitingRun> {
  checkOptions(request, { path: "answerQuestions", table: answerTable, required: ["answers"] });
  const host = await hostOf(request);
  const { answers, ...where } = request;
  const { store, id: runId } = findRecord(host, where);
  for (const { id, decision } of answers) {
    const args = decision.type === "approve" ? decision.args : undefined;
    const problem = args && (await argumentsProblem({ ...where, host, id, args }));
    if (problem !== undefined) throw new CannotResume(problem);
  }
  const known = await knownSecrets(host);
  const facts = await store.answer(runId, {
    known,
    createRedactor: (secrets) => new Redactor(known, secrets),
    begin: (recorded, redactor) => toAnswers(isSuspended(recorded) !== false ? openQuestions(recorded) : [], answers, redactor),
  });
  return { runId, questions: openQuestions(facts) };
}

function toAnswers(
  open: readonly OpenQuestion[],
  answers: readonly QuestionAnswer[],
  redactor: Redactor,
): readonly FactOf<"answer">[] {
  return answers.map(({ id, decision }) => {
    const question = open.find((one) => one.id === id);
    if (!question)
      throw new CannotResume(`no question \`${id}\` waits in this run: it was settled, or what it asked about has changed`);
    const { callPath, key, digest, request } = question;
    return { type: "answer", callPath, key, digest, shown: redactor.digest(shownIn(request)), decision };
  });
}

/** Only a run that is suspended, or that was killed, is there to be answered. */
function isWaiting(host: Host, record: RecordReader, facts: readonly Fact[]): boolean {
  return isSuspended(facts) ?? findOwnerState(host, record, facts) === "none";
}

/** Undefined for a run that did not end. */
function isSuspended(facts: readonly Fact[]): boolean | undefined {
  const end = facts.findLast((fact) => fact.type === "run-end" || fact.type === "attempt");
  return end?.type === "run-end" ? end.stopReason === "suspended" : undefined;
}

async function hostOf({ host }: QuestionsRequest): Promise<Host> {
  if (host) return host;
  const { createNodeHost } = await import("../host/node-host.ts");
  return createNodeHost();
}

async function knownSecrets(host: Host) {
  const { secrets } = await readCredentials(host);
  return [...environmentSecrets(host.environment), ...secrets];
}

const questionsTable: OptionTable<QuestionsRequest> = { ...referenceTable, host: objectOption };
const answerTable: OptionTable<AnswerRequest> = {
  ...questionsTable,
  answers: listOf("a list of `{ id, decision }`, with the decision of an approver", isAnswer),
};

function isAnswer(value: unknown): boolean {
  const { id, decision } = (value ?? {}) as Partial<QuestionAnswer>;
  return typeof id === "string" && isDecision(decision);
}
