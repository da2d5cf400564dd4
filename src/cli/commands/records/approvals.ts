import { styleText } from "node:util";
import { answerQuestions, argumentsProblem, listQuestions, type WaitingRun } from "../../../front/questions.ts";
import type { ApprovalDecision, OpenQuestion } from "../../../protocol/approval.ts";
import type { JsonObject } from "../../../protocol/json.ts";
import { counted, show } from "../../../ui/explain/phrases.ts";
import { renderQuestions } from "../../../ui/records/render-questions.ts";
import type { NextSteps } from "../../../ui/records/render-waiting.ts";
import { errorMessage } from "../../../util/text/error-message.ts";
import { commandLine } from "../../command-name.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { renderJsonLine, writeResult, writeStderr } from "../../output.ts";
import { type FoundRun, findRun, NoSuchRun, requireReadable, streamRuns, takeFirst } from "../../records/find-runs.ts";
import { describeGoOn, describeNext } from "../../records/next-steps.ts";
import { quoteGoOn, waitingSteps } from "../../records/resume-line.ts";
import { askYesOrNo, atTerminal } from "../../terminal/ask-yes-or-no.ts";
import { createTerminalApprover } from "../../terminal/terminal-approver.ts";

export interface ApprovalsFlags {
  readonly json?: boolean;
  readonly store?: string;
}

export interface AnswerFlags extends ApprovalsFlags {
  readonly note?: string;
  readonly all?: boolean;
  /** The questions of all runs of the program. */
  readonly allRuns?: boolean;
  readonly yes?: boolean;
}

/** The questions that a command names, and what it says to them. */
export interface AnswerCommand {
  readonly run: string;
  /** The first question where it is written like one: a folder of such a name is written `./3`. */
  readonly target: string | undefined;
  /** Numbers, ranges, and ids. */
  readonly words: readonly string[];
  readonly type: "approve" | "deny";
}

/** `llm-do approvals [RUN] [TARGET]`: lists what waits for an answer. */
export async function approvalsCommand(run: string, target: string | undefined, flags: ApprovalsFlags): Promise<number> {
  const waiting = await findWaiting(run, target, { changes: false }).catch((thrown: unknown) => {
    if (thrown instanceof NoSuchRun) return thrown;
    throw thrown;
  });
  if (waiting instanceof NoSuchRun) {
    const whose = waiting.root === undefined ? "" : ` of the program in ${show(waiting.root)}`;
    await writeResult(flags.json ? renderJsonLine({ v: 1, questions: [] }) : `nothing waits for an answer in a run${whose}\n`);
    const next = flags.json ? undefined : await nextOfNewest(waiting.root, flags);
    if (next !== undefined) writeStderr(`llm-do: ${next}\n`);
    return exitCodes.done;
  }
  const isEmpty = waiting.questions.length === 0;
  const next = waiting.isForeign || isEmpty ? await describeNext(waiting, flags) : undefined;
  const steps = isEmpty ? {} : { steps: next ?? (await stepsOf(waiting, flags)) };
  if (run === "last" && !flags.json) writeStderr(`llm-do: the run ${waiting.runId} of ${show(waiting.root)}\n`);
  await writeResult(flags.json ? toJson(waiting) : renderQuestions({ ...waiting, ...steps }, styleOf()));
  if (!flags.json && isEmpty && next !== undefined) writeStderr(`llm-do: ${next}\n`);
  if (!flags.json) writeStderr(await describeOthers(waiting));
  return exitCodes.done;
}

/** `llm-do approve RUN [TARGET] [QUESTION...]`, and `deny`: records answers for when the run goes on. */
export async function answerCommand(command: AnswerCommand, flags: AnswerFlags): Promise<number> {
  const { run, type } = command;
  const isQuestion = command.target !== undefined && (rangeForm.test(command.target) || idForm.test(command.target));
  const target = isQuestion ? undefined : command.target;
  const words = isQuestion ? [command.target, ...command.words] : command.words;
  const found = await findWaiting(run, target, { changes: true, isOpen: words.length === 0 }).catch((thrown: unknown) =>
    refuseWithNext(thrown, flags),
  );
  const { root, runId, questions } = found;
  const open = questions.filter(({ answer }) => answer === undefined);
  if (flags.all && words.length > 0) throw new UsageError("--all and numbers exclude one another");
  if (flags.note !== undefined && !flags.all && words.length === 0)
    throw new UsageError("--note goes with numbers or --all: at the terminal, each question takes a note of its own");
  if (questions.length === 0 || (open.length === 0 && words.length === 0))
    throw nothingWaits(`the run ${runId} of ${show(root)}`, await describeNext(found, flags));
  if (run === "last" && !flags.json) writeStderr(`llm-do: the run ${runId} of ${show(root)}\n`);
  const record = async (answered: readonly OpenQuestion[], decision: ApprovalDecision): Promise<void> => {
    await answerQuestions({ run: runId, answers: answered.map(({ id }) => ({ id, decision })) });
    if (!flags.json) writeStderr(describeAnswers(answered, decision));
  };
  const note = flags.note === undefined ? {} : { note: flags.note };
  if (flags.all) {
    if (!(await confirmAll(open, type, flags))) {
      writeStderr("llm-do: nothing was answered\n");
      return exitCodes.failed;
    }
    await record(open, { type, ...note });
  } else if (words.length > 0) await record(selectQuestions(words, questions), { type, ...note });
  else if (type === "deny") throw new UsageError("name the questions to deny by their numbers; `llm-do approvals` lists them");
  else await askEach(open, record, ({ id }, args) => argumentsProblem({ run: runId, id, args }));
  const now = await listQuestions({ run: runId });
  if (flags.json) await writeResult(toJson(now));
  else writeStderr(`${describeRest(now, (await stepsOf(found, flags)).goOn)}${await describeOthers(found)}`);
  return exitCodes.done;
}

function nothingWaits(where: string, next: string | undefined): UsageError {
  return new UsageError(`nothing waits for an answer in ${where}${next === undefined ? "" : `; ${next}`}`);
}

/** Says what goes on with the newest run of a program in none of whose runs anything waits. */
async function refuseWithNext(thrown: unknown, flags: ApprovalsFlags): Promise<never> {
  const next = thrown instanceof NoSuchRun && (await nextOfNewest(thrown.root, flags));
  if (thrown instanceof NoSuchRun && next) throw nothingWaits(`a run of ${show(thrown.root ?? "")}`, next);
  throw thrown;
}

async function nextOfNewest(root: string | undefined, flags: ApprovalsFlags): Promise<string | undefined> {
  const [newest] = root === undefined ? [] : await takeFirst(streamRuns(root), 1);
  return newest && describeNext(newest, flags);
}

type FoundWaiting = WaitingRun & FoundRun;

interface WaitingChoice {
  readonly changes: boolean;
  /** `last` passes over runs in which all is answered. Default false. */
  readonly isOpen?: boolean;
}

/** `last`: the newest run of which something waits. Rejects if one that is newer cannot be read. */
async function findWaiting(
  run: string,
  target: string | undefined,
  { changes, isOpen = false }: WaitingChoice,
): Promise<FoundWaiting> {
  let waiting: WaitingRun | undefined;
  const applies = async (found: FoundRun) => {
    requireReadable(found);
    const { version, last } = found.ends ?? {};
    if (version === 1 || last === undefined || (last.type === "run-end" && last.stopReason !== "suspended")) return false;
    waiting = await listQuestions({ run: found.runId }).catch((thrown: unknown) => {
      requireReadable({ ...found, problem: errorMessage(thrown) });
      return undefined;
    });
    return waiting?.questions.some(({ answer }) => !isOpen || answer === undefined) ?? false;
  };
  const found = await findRun({
    run,
    target,
    changes,
    applies,
    what: "run in which something waits for an answer",
  });
  return { ...found, ...(run === "last" && waiting ? waiting : await listQuestions({ run: found.runId, store: found.store })) };
}

const rangeForm = /^(\d{1,9})(?:-(\d{1,9}))?$/;
const idForm = /^[0-9a-f]{12}$/;

/** Selects by number (`3`), range (`3-5`) or id, each once. Throws a `UsageError` for words that name no question. */
function selectQuestions(words: readonly string[], questions: readonly OpenQuestion[]): readonly OpenQuestion[] {
  const selected = words.flatMap((word) => {
    const named = questions.filter(({ id }) => id === word);
    if (named.length > 0) return named;
    const [, first, last = first] = rangeForm.exec(word) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (from >= 1 && from <= to && to <= questions.length) return questions.slice(from - 1, to);
    const what = idForm.test(word)
      ? `the question \`${word}\` was settled, or what it asked about has changed`
      : `\`${word}\` names no question: it is a number, a range such as 3-5, or an id`;
    throw new UsageError(`${what}; \`llm-do approvals\` lists ${counted(questions.length, "question")}`);
  });
  return [...new Set(selected)];
}

/** Names what it is about. Rejects with a `UsageError` if nobody can confirm it. */
export async function confirmAll(open: readonly OpenQuestion[], type: string, { yes }: AnswerFlags): Promise<boolean> {
  if (yes) return true;
  const lines = open.map(({ request }) => `  ${show(request.worker)}: ${show(request.description)}\n`);
  const render = () => `${lines.join("")}${type} all ${open.length}?`;
  return askYesOrNo({ render, otherwise: "--yes answers without a question" });
}

type CheckArguments = (question: OpenQuestion, args: JsonObject) => Promise<string | undefined>;
type RecordAnswers = (answered: readonly OpenQuestion[], decision: ApprovalDecision) => Promise<void>;

/** One question after the other, as a run asks them. Each answer is recorded before the next question: what follows can be interrupted. */
function askEach(open: readonly OpenQuestion[], record: RecordAnswers, check: CheckArguments): Promise<void> {
  return atTerminal("name the questions by their numbers: there is no terminal to ask at", async (terminal, signal) => {
    const approver = createTerminalApprover(terminal);
    const memory = { list: () => [], rules: () => [], revoke: () => false };
    for (const [index, question] of open.entries()) {
      const position = { n: index + 1, m: open.length };
      const request = { ...question.request, position };
      const decision = await approver(request, { signal, memory, checkArgs: (args) => check(question, args) });
      await record([question], decision);
      if (decision.type === "stop") return;
    }
  });
}

export function describeAnswers(answered: readonly OpenQuestion[], decision: ApprovalDecision): string {
  return answered
    .map(({ request }) => `  ${show(pastOf(decision))}: ${show(request.worker)}: ${show(request.description)}\n`)
    .join("");
}

function pastOf(decision: ApprovalDecision): string {
  const { type, note } = decision;
  const words = { approve: "approved", deny: "denied", stop: "the run is to stop" };
  if (type === "approve" && decision.args) return "changed, and asks again when the run goes on";
  return `${words[type]}${note === undefined ? "" : ` (${note})`}`;
}

async function stepsOf(found: FoundRun, { store }: ApprovalsFlags): Promise<NextSteps> {
  const flags = store === undefined ? {} : { store };
  return waitingSteps(found.runId, flags, await describeGoOn(found, flags));
}

/** The most runs that are looked at for others that wait. */
const mostOthers = 1000;

/** Counts other runs of the program that wait and have no answer yet. Empty for none. */
async function describeOthers({ root, runId }: FoundRun): Promise<string> {
  const runs = await takeFirst(streamRuns(root), mostOthers).catch(() => []);
  const others = runs.filter((run) => run.runId !== runId && isSuspended(run)).length;
  if (others === 0) return "";
  const wait = others === 1 ? "1 other run of this program waits" : `${others} other runs of this program wait`;
  return `llm-do: ${wait} for answers; \`${commandLine("approve")}\` asks for those of the newest\n`;
}

/** Returns whether a run waits, and has no answer since. */
export function isSuspended({ ends }: FoundRun): boolean {
  return ends?.last?.type === "run-end" && ends.last.stopReason === "suspended";
}

function describeRest({ questions }: WaitingRun, goOn: string): string {
  const open = questions.filter(({ answer }) => answer === undefined).length;
  const rest = open > 0 ? `${open} still without an answer; ` : "";
  return `llm-do: ${rest}${quoteGoOn(goOn)} goes on with the run\n`;
}

export function toJson({ runId, questions }: WaitingRun): string {
  return renderJsonLine({ v: 1, runId, questions });
}

function styleOf() {
  const { stdout } = process;
  const style = (format: Parameters<typeof styleText>[0], text: string) => styleText(format, text, { stream: stdout });
  return { columns: stdout.columns || 80, style };
}
