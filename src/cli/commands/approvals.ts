import { styleText } from "node:util";
import type { ApprovalDecision, OpenQuestion } from "../../protocol/approval.ts";
import { answerQuestions, listQuestions, type QuestionAnswer, type WaitingRun } from "../../questions.ts";
import { renderQuestions } from "../../ui/render-questions.ts";
import { escapeText } from "../../util/escape-text.ts";
import { exitCodes, Interrupted, UsageError } from "../exit-codes.ts";
import { findRun, findRuns } from "../find-runs.ts";
import { writeResult, writeStderr } from "../output.ts";
import { listenForSignals } from "../signals.ts";
import { findTerminal, type Terminal } from "../terminal.ts";
import { createTerminalApprover } from "../terminal-approver.ts";

export interface ApprovalsFlags {
  readonly json?: boolean;
}

export interface AnswerFlags extends ApprovalsFlags {
  readonly note?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

/** The questions that a command names, and what it says to them. */
export interface AnswerCommand {
  readonly run: string;
  /** Numbers, ranges, and ids. */
  readonly words: readonly string[];
  readonly type: "approve" | "deny";
}

/** `llm-do approvals [RUN] [TARGET]`: lists what waits for an answer. */
export async function approvalsCommand(run: string, target: string | undefined, flags: ApprovalsFlags): Promise<number> {
  const waiting = await findWaiting(run, target);
  await writeResult(flags.json ? toJson(waiting) : renderQuestions(waiting, styleOf()));
  return exitCodes.done;
}

/** `llm-do approve RUN [QUESTION...]`, and `deny`: records answers for when the run goes on. */
export async function answerCommand({ run, words, type }: AnswerCommand, flags: AnswerFlags): Promise<number> {
  const { directory, questions } = await findWaiting(run, undefined);
  const open = questions.filter(({ answer }) => answer === undefined);
  if (flags.all && words.length > 0) throw new UsageError("--all and numbers exclude one another");
  if (open.length === 0 && words.length === 0) throw new UsageError("nothing waits for an answer in this run");
  const note = flags.note === undefined ? {} : { note: flags.note };
  const toAnswer = ({ id }: OpenQuestion): QuestionAnswer => ({ id, decision: { type, ...note } });
  const answers = flags.all
    ? (await confirmAll(open, type, flags)).map(toAnswer)
    : words.length > 0
      ? selectQuestions(words, questions).map(toAnswer)
      : await askEach(open, type);
  const now = await answerQuestions({ directory, answers });
  if (flags.json) await writeResult(toJson(now));
  else writeStderr(`${describeAnswers(answers, questions)}${describeRest(now)}`);
  return exitCodes.done;
}

interface FoundWaiting extends WaitingRun {
  readonly directory: string;
}

/** `last`: the newest run of which something waits. */
async function findWaiting(run: string, target: string | undefined): Promise<FoundWaiting> {
  if (run !== "last") {
    const directory = await findRun(run, target);
    return { directory, ...(await listQuestions({ directory })) };
  }
  for (const { directory } of (await findRuns(target)).toReversed()) {
    const waiting = await listQuestions({ directory }).catch(() => undefined);
    if (waiting && waiting.questions.length > 0) return { directory, ...waiting };
  }
  throw new UsageError("there is no run in which something waits for an answer");
}

/** Selects by number (`3`), range (`3-5`) or id. Throws a `UsageError` for words that name no question. */
function selectQuestions(words: readonly string[], questions: readonly OpenQuestion[]): readonly OpenQuestion[] {
  return words.flatMap((word) => {
    const named = questions.filter(({ id }) => id === word);
    if (named.length > 0) return named;
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(word) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (from >= 1 && from <= to && to <= questions.length) return questions.slice(from - 1, to);
    const what =
      first === undefined && /^[0-9a-f]{12}$/.test(word) ? "was settled, or what it asked about has changed" : "does not wait";
    throw new UsageError(`\`${word}\` ${what}: there are ${questions.length} questions; \`llm-do approvals\` lists them`);
  });
}

/** Names what it is about. Rejects with a `UsageError` where nobody can confirm it. */
async function confirmAll(open: readonly OpenQuestion[], type: string, { yes }: AnswerFlags): Promise<readonly OpenQuestion[]> {
  const lines = open.map(({ request }) => `  ${request.worker}: ${request.description}\n`).join("");
  if (yes) return open;
  return atTerminal("--all needs --yes where there is no terminal to ask at", async (terminal, signal) => {
    const text = `\n${lines}${type} all ${open.length}?\n  yes  do it\n  no   leave everything as it is\n`;
    const isWanted = await terminal.ask({ text, read: readYes }, signal);
    return isWanted ? open : [];
  });
}

function readYes(line: string | undefined): { readonly answer: boolean } | string {
  const word = line?.trim().toLowerCase();
  if (word === "y" || word === "yes") return { answer: true };
  return word === undefined || word === "n" || word === "no" ? { answer: false } : "Answer with yes or no.";
}

/** One question after the other, as a run asks them. */
function askEach(open: readonly OpenQuestion[], type: AnswerCommand["type"]): Promise<readonly QuestionAnswer[]> {
  if (type === "deny") throw new UsageError("name the questions to deny by their numbers; `llm-do approvals` lists them");
  return atTerminal("name the questions by their numbers: there is no terminal to ask at", async (terminal, signal) => {
    const approver = createTerminalApprover(terminal);
    const memory = { list: () => [], rules: () => [], revoke: () => false };
    const answers: QuestionAnswer[] = [];
    for (const [index, { id, request }] of open.entries()) {
      const position = { n: index + 1, m: open.length };
      const decision = await approver({ ...request, position }, { signal, memory, checkArgs: async () => undefined });
      answers.push({ id, decision });
    }
    return answers;
  });
}

async function atTerminal<T>(why: string, ask: (terminal: Terminal, signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { interrupt: onInterrupt, ignoreInterrupts, close } = listenForSignals((name) => controller.abort(new Interrupted(name)));
  try {
    const terminal = findTerminal({ onInterrupt, ignoreInterrupts });
    if (!terminal) throw new UsageError(why);
    return await ask(terminal, controller.signal);
  } finally {
    close();
  }
}

function describeAnswers(answers: readonly QuestionAnswer[], questions: readonly OpenQuestion[]): string {
  const described = answers.map(({ id, decision }) => {
    const request = questions.find((question) => question.id === id)?.request;
    return `  ${pastOf(decision)}: ${request?.worker}: ${request?.description}\n`;
  });
  return escapeText(described.join(""), { keepNewlines: true, keepBackslashes: true });
}

function pastOf({ type, note }: ApprovalDecision): string {
  const words = { approve: "approved", deny: "denied", stop: "stopped" };
  return `${words[type]}${note === undefined ? "" : ` (${note})`}`;
}

function describeRest({ runId, questions }: WaitingRun): string {
  const open = questions.filter(({ answer }) => answer === undefined).length;
  const rest = open > 0 ? `${open} still without an answer; ` : "";
  return `llm-do: ${rest}\`llm-do resume ${runId}\` goes on with the run\n`;
}

function toJson({ runId, questions }: WaitingRun): string {
  return `${JSON.stringify({ v: 1, runId, questions })}\n`;
}

function styleOf() {
  const { stdout } = process;
  const style = (format: Parameters<typeof styleText>[0], text: string) => styleText(format, text, { stream: stdout });
  return { columns: stdout.columns || 80, style };
}
