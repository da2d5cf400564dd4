import { runSteps } from "../../util/in-steps.ts";
import { openRequest } from "../render-request.ts";
import type { RowStyle } from "../text/preview-rows.ts";
import { renderLines } from "../text/render-lines.ts";
import { changedWords, renderWays, type WaitingRun } from "./render-waiting.ts";

/** Renders the questions of a suspended run, each as an approver sees it, by number. */
export function renderQuestions(run: WaitingRun, style: RowStyle): string {
  const { runId, questions } = run;
  if (questions.length === 0) return renderLines([`run ${runId}: nothing waits for an answer`]);
  const m = questions.length;
  const shown = questions.map(({ id, request, answer, isChanged }, index) => {
    const { text } = runSteps(openRequest({ ...request, position: { n: index + 1, m } }, style));
    const given = answer ? [`  answered: ${answer.type}${answer.note === undefined ? "" : `, ${answer.note}`}`] : [];
    const rest = renderLines([`  id: ${id}`, ...given, ...(isChanged ? [`  ${changedWords}`] : [])]);
    return `${text.trimStart().replace(/\n*$/, "\n")}${rest}`;
  });
  return `${shown.join("\n")}\n${renderWays(run)}`;
}
