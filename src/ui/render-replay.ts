import type { CallPath } from "../protocol/call.ts";
import type { Fact } from "../protocol/fact.ts";
import { clipText } from "../util/clip-text.ts";
import { callLabel } from "./call-label.ts";
import { show } from "./explain/phrases.ts";

/** The outcome of a replay, as far as it is shown. */
export interface ShownReplay {
  readonly runId: string;
  readonly same: boolean;
  readonly differences: readonly { readonly callPath: CallPath; readonly recorded?: Fact; readonly replayed?: Fact }[];
  readonly drifts: readonly { readonly callPath: CallPath; readonly key: string; readonly kind: string }[];
}

/** One line where the program of today does the same; otherwise a line for each call and each effect that is different. */
export function renderReplay({ runId, same, differences, drifts }: ShownReplay, columns: number): string {
  if (same) return `run ${runId}: the program of today does the same\n`;
  const effects = drifts.map(
    ({ callPath, key, kind }) => `${labelOf(callPath)}: the ${effectNames[kind] ?? kind} is different (${key})`,
  );
  const calls = differences
    .filter(({ callPath }) => !drifts.some((drift) => drift.callPath === callPath))
    .map(
      ({ callPath, recorded, replayed }) => `${labelOf(callPath)}: recorded ${describe(recorded)}, today ${describe(replayed)}`,
    );
  const lines = [`run ${runId}: the program of today does something else`, ...[...effects, ...calls].map((line) => `  ${line}`)];
  return lines.map((line) => `${clipText(show(line), columns, "...")}\n`).join("");
}

const effectNames: Readonly<Record<string, string>> = {
  model: "model request",
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
