import { basename } from "node:path";
import { isDecision } from "./approval/put-question.ts";
import { readCredentials } from "./credentials.ts";
import { askedSchema, openQuestions, shownIn } from "./effects/open-questions.ts";
import type { Host } from "./host/host.ts";
import { readRecord } from "./journal/read-journal.ts";
import { CannotResume, checkOwner, resumeJournal } from "./journal/resume-journal.ts";
import type { ApprovalDecision, OpenQuestion } from "./protocol/approval.ts";
import type { Fact, FactOf } from "./protocol/fact.ts";
import type { JsonValue } from "./protocol/json.ts";
import { fromJsonSchema } from "./schema/from-json-schema.ts";
import { renderIssues } from "./schema/schema.ts";
import { checkOptions, listOf, type OptionTable, objectOption, textOption } from "./util/check-options.ts";
import { environmentSecrets, Redactor } from "./util/redactor.ts";

/** The questions of a run that wait, and the run. Plain data: it can be sent to whoever answers. */
export interface WaitingRun {
  readonly runId: string;
  readonly questions: readonly OpenQuestion[];
}

export interface QuestionsRequest {
  /** Absolute path of the run's folder: `.llm-do/runs/<id>` of its program. */
  readonly directory: string;
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
 * Rejects where the journal cannot be read.
 */
export async function listQuestions(request: QuestionsRequest): Promise<WaitingRun> {
  checkOptions(request, { path: "listQuestions", table: questionsTable, required: ["directory"] });
  const host = await hostOf(request);
  const { directory } = request;
  const { facts } = await readRecord(host, directory, await knownSecrets(host));
  return { runId: basename(directory), questions: isWaiting(host, directory, facts) ? openQuestions(facts) : [] };
}

/**
 * Says why edited arguments do not fit the tool that a question is about; undefined where they do, and for a call of code, whose schema
 * no record has: it is checked when the run goes on.
 */
export async function argumentsProblem(request: QuestionsRequest & { readonly id: string; readonly args: JsonValue }) {
  const { directory, id, args } = request;
  const host = await hostOf(request);
  const { facts } = await readRecord(host, directory, await knownSecrets(host));
  const question = openQuestions(facts).find((one) => one.id === id);
  const schema = question && askedSchema(facts, question);
  const checked = schema && (await fromJsonSchema(schema).validate(args));
  return !checked || checked.ok
    ? undefined
    : `the arguments of \`${question.request.tool}\` do not fit: ${renderIssues(checked.issues)}`;
}

/**
 * Records answers, all or none. They take effect when the run goes on; until then a later answer replaces an earlier one. Rejects with an
 * `Error` where a question does not wait (any more), asks about something else by now, its new arguments do not fit the tool, or the run
 * is executed.
 */
export async function answerQuestions(request: AnswerRequest): Promise<WaitingRun> {
  checkOptions(request, { path: "answerQuestions", table: answerTable, required: ["directory", "answers"] });
  const host = await hostOf(request);
  const { directory, answers } = request;
  for (const { id, decision } of answers) {
    const args = decision.type === "approve" ? decision.args : undefined;
    const problem = args && (await argumentsProblem({ directory, host, id, args }));
    if (problem !== undefined) throw new CannotResume(problem);
  }
  const known = await knownSecrets(host);
  const { journal, facts } = await resumeJournal(host, directory, {
    known,
    takeOver: false,
    createRedactor: (secrets) => new Redactor(known, secrets),
    begin: (recorded, redactor) =>
      toAnswers(isWaiting(host, directory, recorded) ? openQuestions(recorded) : [], answers, redactor),
  });
  const lost = await journal.close();
  if (lost) throw lost;
  return { runId: basename(directory), questions: openQuestions(facts) };
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
function isWaiting(host: Host, directory: string, facts: readonly Fact[]): boolean {
  const end = facts.findLast((fact) => fact.type === "run-end" || fact.type === "attempt");
  if (end?.type === "run-end") return end.stopReason === "suspended";
  try {
    checkOwner(host, directory, facts, false);
    return true;
  } catch (thrown) {
    if (thrown instanceof CannotResume) return false;
    throw thrown;
  }
}

async function hostOf({ host }: QuestionsRequest): Promise<Host> {
  if (host) return host;
  const { createNodeHost } = await import("./host/node-host.ts");
  return createNodeHost();
}

async function knownSecrets(host: Host) {
  const { secrets } = await readCredentials(host);
  return [...environmentSecrets(host.environment), ...secrets];
}

const questionsTable: OptionTable<QuestionsRequest> = { directory: textOption, host: objectOption };
const answerTable: OptionTable<AnswerRequest> = {
  ...questionsTable,
  answers: listOf("a list of `{ id, decision }`, with the decision of an approver", isAnswer),
};

function isAnswer(value: unknown): boolean {
  const { id, decision } = (value ?? {}) as Partial<QuestionAnswer>;
  return typeof id === "string" && isDecision(decision);
}
