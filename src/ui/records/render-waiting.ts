import type { OpenQuestion } from "../../protocol/approval.ts";
import type { CallPath } from "../../protocol/call.ts";
import { counted } from "../explain/phrases.ts";
import { callLabel } from "../text/call-label.ts";
import { renderLines } from "../text/render-lines.ts";

export interface WaitingRun {
  readonly runId: string;
  readonly questions: readonly OpenQuestion[];
  /** A line: nothing else can be done with it. Default: as the command is called where it is installed, and without flags. */
  readonly steps?: NextSteps | string;
}

/** The command lines of a run that waits. */
export interface NextSteps {
  readonly command: string;
  /** Flags of all of them. */
  readonly flags: string;
  /** Goes on with it. */
  readonly goOn: string;
}

/** Lists the open questions in a line each, and how to answer them. `behind`: the calls that come after one of them. */
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
export function renderWays({ runId, questions, steps }: WaitingRun): string {
  if (typeof steps === "string") return renderLines([steps]);
  const { command, flags, goOn } = steps ?? { command: "llm-do", flags: "", goOn: `llm-do resume ${runId}` };
  const open = questions.filter(({ answer }) => answer === undefined);
  if (open.length === 0) return renderLines([`all is answered; go on: ${goOn}`]);
  return renderLines([
    ...(open.length < questions.length ? [`${counted(open.length, "question")} without an answer`] : []),
    `  look:    ${command} approvals ${runId}${flags}`,
    `  answer:  ${command} approve ${runId} NUMBER...${flags}`,
    `           ${command} deny ${runId} NUMBER... --note WHY${flags}`,
    `  go on:   ${goOn}`,
  ]);
}
