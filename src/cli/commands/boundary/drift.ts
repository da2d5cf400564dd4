import { type DriftWeek, readDrift } from "../../../boundary/drift.ts";
import { renderShare } from "../../../ui/records/render-comparison.ts";
import { escapeText } from "../../../util/text/escape-text.ts";
import { exitCodes } from "../../exit-codes.ts";
import { writeResult, writeStderr } from "../../output.ts";
import { programOfTarget, storeOfUser } from "../../records/find-runs.ts";

export interface DriftFlags {
  readonly since?: number;
  readonly atLeast?: number;
  readonly json?: boolean;
}

/** `llm-do drift STEP [TARGET]`: 1 where the interval of the last week with checks lies below --at-least as a whole. */
export async function driftCommand(worker: string, target: string | undefined, flags: DriftFlags): Promise<number> {
  const { since, atLeast, json = false } = flags;
  const weeks = await readDrift(storeOfUser(), {
    worker,
    program: await programOfTarget(target),
    ...(since === undefined ? {} : { since }),
    onUnreadable: (run, problem) => writeStderr(`llm-do: the run ${run} is left out: ${escapeText(problem)}\n`),
  });
  if (json) await writeResult(weeks.map((week) => `${JSON.stringify(week)}\n`).join(""));
  else await writeResult(weeks.map(renderWeek).join(""));
  if (weeks.length === 0)
    writeStderr(`llm-do: no recorded check of \`${worker}\`: \`check: 0.05\` beside \`code\` in its file has some made\n`);
  const last = weeks.findLast(({ agreement }) => agreement.count > 0);
  const hasDrifted = atLeast !== undefined && last !== undefined && last.agreement.upper < atLeast;
  return hasDrifted ? exitCodes.failed : exitCodes.done;
}

function renderWeek({ week, agreement, skipped, different }: DriftWeek): string {
  const fields = Object.entries(different).map(([path, count]) => `${escapeText(path || "the output")} ${count}`);
  const more = [...(fields.length > 0 ? [`differ: ${fields.join(", ")}`] : []), ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return `week of ${week}  ${renderShare(agreement)}${more.length > 0 ? `; ${more.join("; ")}` : ""}\n`;
}
