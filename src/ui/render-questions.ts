import { runSteps } from "../util/in-steps.ts";
import { show } from "./explain/phrases.ts";
import type { RowStyle } from "./preview-rows.ts";
import { openRequest } from "./render-request.ts";
import { changedWords, renderWays, type WaitingRun } from "./render-waiting.ts";

/** Renders the questions of a suspended run, each as an approver sees it, by number. */
export function renderQuestions({ runId, questions }: WaitingRun, style: RowStyle): string {
  if (questions.length === 0) return `run ${runId}: nothing waits for an answer\n`;
  const m = questions.length;
  const shown = questions.map(({ id, request, answer, isChanged }, index) => {
    const { text } = runSteps(openRequest({ ...request, position: { n: index + 1, m } }, style));
    const given = answer ? `  answered: ${answer.type}${answer.note === undefined ? "" : `, ${show(answer.note)}`}\n` : "";
    return `${text.trimStart().replace(/\n*$/, "\n")}  id: ${id}\n${given}${isChanged ? `  ${changedWords}\n` : ""}`;
  });
  return `${shown.join("\n")}\n${renderWays({ runId, questions })}`;
}
