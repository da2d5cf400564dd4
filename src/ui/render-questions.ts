import type { OpenQuestion } from "../protocol/approval.ts";
import { runSteps } from "../util/in-steps.ts";
import { callLabel } from "./call-label.ts";
import { counted, show } from "./explain/phrases.ts";
import type { RowStyle } from "./preview-rows.ts";
import { openRequest } from "./render-request.ts";

interface ShownRun {
  readonly runId: string;
  readonly questions: readonly OpenQuestion[];
}

/** Renders the questions of a suspended run, each as an approver sees it, by number. */
export function renderQuestions({ runId, questions }: ShownRun, style: RowStyle): string {
  if (questions.length === 0) return `run ${runId}: nothing waits for an answer\n`;
  const m = questions.length;
  const shown = questions.map(({ id, request, answer }, index) => {
    const { text } = runSteps(openRequest({ ...request, position: { n: index + 1, m } }, style));
    const given = answer ? `  answered: ${answer.type}${answer.note === undefined ? "" : `, ${show(answer.note)}`}\n` : "";
    return `${text.trimStart().replace(/\n*$/, "\n")}  id: ${id}\n${given}`;
  });
  return `${shown.join("\n")}\n${renderWays({ runId, questions })}`;
}

/** Lists what waits in a line each, and how to answer. */
export function renderWaiting(run: ShownRun): string {
  const lines = run.questions.map(
    ({ callPath, request }, index) => `  ${index + 1}  ${callLabel(callPath)}: ${show(request.description)}\n`,
  );
  return `${lines.join("")}${renderWays(run)}`;
}

function renderWays({ runId, questions }: ShownRun): string {
  const open = questions.filter(({ answer }) => answer === undefined);
  if (open.length === 0) return `all is answered; go on: llm-do resume ${runId}\n`;
  const rest = open.length < questions.length ? `${counted(open.length, "question")} without an answer; ` : "";
  return `${rest}look: llm-do approvals ${runId}; answer: llm-do approve ${runId} NUMBER..., llm-do deny ${runId} NUMBER... --note WHY; go on: llm-do resume ${runId}\n`;
}
