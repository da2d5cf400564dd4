import type { OpenQuestion } from "../protocol/approval.ts";
import type { CallPath } from "../protocol/call.ts";
import { callLabel } from "./call-label.ts";
import { counted } from "./explain/phrases.ts";
import { renderLines } from "./render-lines.ts";

export interface WaitingRun {
  readonly runId: string;
  readonly questions: readonly OpenQuestion[];
}

/** Lists what waits in a line each, and how to answer. `behind`: the calls that come after one of them. */
export function renderWaiting(run: WaitingRun, behind: readonly CallPath[]): string {
  const lines = run.questions.map(
    ({ callPath, request, isChanged }, index) =>
      `  ${index + 1}  ${callLabel(callPath)}: ${request.description}${isChanged ? `; ${changedWords}` : ""}`,
  );
  const later = behind.map((callPath) => `  -  ${callLabel(callPath)} comes after one of them`);
  return `${renderLines([...lines, ...later])}${renderWays(run)}`;
}

export const changedWords = "it was answered, and has changed since";

/** Says how the questions are looked at and answered, and how the run goes on. */
export function renderWays({ runId, questions }: WaitingRun): string {
  const open = questions.filter(({ answer }) => answer === undefined);
  if (open.length === 0) return renderLines([`all is answered; go on: llm-do resume ${runId}`]);
  return renderLines([
    ...(open.length < questions.length ? [`${counted(open.length, "question")} without an answer`] : []),
    `  look:    llm-do approvals ${runId}`,
    `  answer:  llm-do approve ${runId} NUMBER...`,
    `           llm-do deny ${runId} NUMBER... --note WHY`,
    `  go on:   llm-do resume ${runId}`,
  ]);
}
