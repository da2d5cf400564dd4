import type { PlacedDrift, ReplayReport } from "../../front/replay.ts";
import type { CallPath } from "../../protocol/call.ts";
import type { Fact } from "../../protocol/fact.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { counted } from "../explain/phrases.ts";
import { callLabel } from "../text/call-label.ts";
import { renderLines } from "../text/render-lines.ts";

/** The outcome of a replay, as far as it is shown. */
interface ShownReplay extends Pick<ReplayReport, "runId" | "same" | "differences" | "drifts"> {
  readonly verdicts: readonly ShownVerdict[];
}

type ShownVerdict = Omit<ReplayReport["verdicts"][number], "tool">;

/** One line where the program of today does the same; otherwise a line for each call and each effect that is different. */
export function renderReplay({ runId, same, differences, drifts, verdicts }: ShownReplay, columns: number): string {
  if (same) return renderLines([`run ${runId}: the program of today does the same`]);
  const effects = drifts.flatMap((drift) => {
    const later = drifts.filter(({ callPath, change }) => callPath === drift.callPath && change === undefined).length;
    const follow = later === 0 ? "" : `; also ${counted(later, "later request")} of it`;
    return drift.change === undefined ? [] : [`${describeDrift(drift)}${follow}`];
  });
  const calls = differences
    .filter(({ callPath }) => !drifts.some((drift) => drift.callPath === callPath))
    .map(
      ({ callPath, recorded, replayed }) => `${labelOf(callPath)}: recorded ${describe(recorded)}, today ${describe(replayed)}`,
    );
  const [first, ...later] = verdicts;
  const judged = first
    ? [`${describeVerdict(first)}${later.length === 0 ? "" : `; also ${counted(later.length, "later call")}`}`]
    : [];
  const lines = [
    `run ${runId}: the program of today does something else`,
    ...judged.map((line) => `  ${line}`),
    ...effects.map((line) => `  ${line}`),
    ...calls.map((line) => clipText(`  ${line}`, columns, "...")),
  ];
  return renderLines(lines);
}

const verdictWords = { allowed: "allowed", ask: "asked", blocked: "blocked" } as const;

function describeVerdict({ callPath, recorded, today }: ShownVerdict): string {
  return `${labelOf(callPath)}: it was ${verdictWords[recorded.type]} and is ${verdictWords[today.type]} today (${today.why})`;
}

function describeDrift({ callPath, key, kind, change, place }: PlacedDrift): string {
  if (kind === "tool" && change !== undefined) return `${labelOf(callPath)}: ${change}`;
  if (kind !== "model") return `${labelOf(callPath)}: the ${effectNames[kind] ?? kind} is different (${key})`;
  if (!place) return change ?? "";
  return `${place.file}${place.line === undefined ? "" : `:${place.line}`}: ${change}`;
}

const effectNames: Readonly<Record<string, string>> = {
  tool: "tool's call",
  question: "question",
  connect: "connection",
};

function labelOf(callPath: CallPath): string {
  return callPath === "" ? "the run" : callLabel(callPath);
}

function describe(fact: Fact | undefined): string {
  if (!fact) return "nothing further";
  if (fact.type === "run-end" || fact.type === "call-end") return `its end (${fact.stopReason})`;
  if (fact.type === "verdict") return `the verdict ${fact.verdict.type}`;
  return fact.type;
}
