import { replay } from "../../llm-do.ts";
import { renderReplay } from "../../ui/render-replay.ts";
import { exitCodes } from "../exit-codes.ts";
import { findRun } from "../find-runs.ts";
import { type CompileFlags, openProgram } from "../open-program.ts";
import { renderJsonLine, writeResult } from "../output.ts";
import { readCompiled, sourceOf } from "../recorded-program.ts";

export interface ReplayFlags extends CompileFlags {
  readonly json?: boolean;
}

/** `llm-do replay [RUN] [TARGET]`: whether the program of today does what it did in a recorded run. Asks nobody, touches nothing. */
export async function replayCommand(run: string, target: string, flags: ReplayFlags): Promise<number> {
  const found = await findRun({ run, target });
  const recorded = { found, compiled: await readCompiled(found) };
  const source = await sourceOf(recorded, flags);
  const targets = target.endsWith(".worker") ? [target] : source.targets;
  const { program } = await openProgram(targets, source.flags, {
    toRun: true,
    forRun: { run: found.runId },
    ofProgram: source.ofProgram,
  });
  const report = await replay({ program, run: found.runId });
  const { runId, same, differences, drifts, verdicts } = report;
  await writeResult(
    flags.json
      ? renderJsonLine({ v: 1, runId, same, differences, drifts, verdicts })
      : renderReplay(report, process.stdout.columns || 80),
  );
  return same ? exitCodes.done : exitCodes.failed;
}
