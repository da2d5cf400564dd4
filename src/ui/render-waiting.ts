import type { OpenQuestion } from "../protocol/approval.ts";
import { callLabel } from "./call-label.ts";
import { counted, show } from "./explain/phrases.ts";

export interface WaitingRun {
  readonly runId: string;
  readonly questions: readonly OpenQuestion[];
}

/** Lists what waits in a line each, and how to answer. */
export function renderWaiting(run: WaitingRun): string {
  const lines = run.questions.map(
    ({ callPath, request }, index) => `  ${index + 1}  ${callLabel(callPath)}: ${show(request.description)}\n`,
  );
  return `${lines.join("")}${renderWays(run)}`;
}

/** Says how the questions are looked at and answered, and how the run goes on. */
export function renderWays({ runId, questions }: WaitingRun): string {
  const open = questions.filter(({ answer }) => answer === undefined);
  if (open.length === 0) return `all is answered; go on: llm-do resume ${runId}\n`;
  const rest = open.length < questions.length ? `${counted(open.length, "question")} without an answer; ` : "";
  return `${rest}look: llm-do approvals ${runId}; answer: llm-do approve ${runId} NUMBER..., llm-do deny ${runId} NUMBER... --note WHY; go on: llm-do resume ${runId}\n`;
}
