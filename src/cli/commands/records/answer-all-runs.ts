import { answerQuestions, listQuestions, type WaitingRun } from "../../../front/questions.ts";
import type { ApprovalDecision } from "../../../protocol/approval.ts";
import { counted, show } from "../../../ui/explain/phrases.ts";
import { errorMessage } from "../../../util/text/error-message.ts";
import { commandLine } from "../../command-name.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { writeResult, writeStderr } from "../../output.ts";
import { type FoundRun, findRun, streamRuns } from "../../records/find-runs.ts";
import { type AnswerCommand, type AnswerFlags, confirmAll, describeAnswers, isSuspended, toJson } from "./approvals.ts";

/** `llm-do approve --all-runs [last TARGET]`, and `deny`: one answer for all questions of all runs of a program, as of the rows of a map. */
export async function answerAllRuns({ run, target, words, type }: AnswerCommand, flags: AnswerFlags): Promise<number> {
  if (flags.all || words.length > 0)
    throw new UsageError("--all-runs answers all that waits: neither --all nor questions go with it");
  if (run !== "last") throw new UsageError(`--all-runs is about no single run: \`last\` and the program stand before it`);
  const { root } = await findRun({
    run,
    target,
    changes: true,
    applies: isSuspended,
    what: "run that waits for answers",
  });
  const waiting = await findOpen(root);
  const open = waiting.flatMap(({ questions }) => questions);
  if (open.length === 0) throw new UsageError(`nothing waits for an answer in the runs of ${show(root)}`);
  if (!(await confirmAll(open, type, flags))) {
    writeStderr("llm-do: nothing was answered\n");
    return exitCodes.failed;
  }
  const decision: ApprovalDecision = { type, ...(flags.note === undefined ? {} : { note: flags.note }) };
  for (const { runId, questions } of waiting) {
    const now = await answerQuestions({ run: runId, answers: questions.map(({ id }) => ({ id, decision })) });
    if (flags.json) await writeResult(toJson(now));
    else writeStderr(describeAnswers(questions, decision));
  }
  if (!flags.json) writeStderr(describeWayOn(open.length, waiting));
  return exitCodes.done;
}

/** The questions without an answer, by runs. A run that cannot be read is named on stderr. */
async function findOpen(root: string): Promise<readonly WaitingRun[]> {
  const waiting: WaitingRun[] = [];
  for await (const found of streamRuns(root)) {
    if (found.problem === undefined && !isSuspended(found)) continue;
    const { runId, questions } = await readQuestions(found);
    const open = questions.filter(({ answer }) => answer === undefined);
    if (open.length > 0) waiting.push({ runId, questions: open });
  }
  return waiting;
}

async function readQuestions({ runId, store, problem }: FoundRun): Promise<WaitingRun> {
  try {
    if (problem !== undefined) throw new Error(problem);
    return await listQuestions({ run: runId, store });
  } catch (thrown) {
    writeStderr(`llm-do: the run ${runId} is left out: ${errorMessage(thrown)}\n`);
    return { runId, questions: [] };
  }
}

function describeWayOn(questions: number, [first, ...others]: readonly WaitingRun[]): string {
  const answered = `${counted(questions, "question")} of ${counted(others.length + 1, "run")} answered`;
  const how = `\`${commandLine("resume", first?.runId ?? "RUN")}\`${others.length > 0 ? " goes on with the newest, and so on" : " goes on with it"}`;
  return `llm-do: ${answered}; start the map again, or ${how}\n`;
}
