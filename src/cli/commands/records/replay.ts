import { replay } from "../../../front/llm-do.ts";
import { renderReplay } from "../../../ui/records/render-replay.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { renderJsonLine, writeResult } from "../../output.ts";
import { type CompileFlags, openProgram } from "../../programs/open-program.ts";
import { findRun } from "../../records/find-runs.ts";
import { readCompiled, sourceOf } from "../../records/recorded-program.ts";

export interface ReplayFlags extends CompileFlags {
  readonly json?: boolean;
}

/** Trust of one run (`--trust`) is not kept. */
const trustAdvice = "A replay executes no tool, but loads the program's code, which runs then: pass --trust";

/** `llm-do replay [RUN] [TARGET]`: whether the program of today does what it did in a recorded run. Asks nobody, touches nothing. */
export async function replayCommand(run: string, target: string | undefined, flags: ReplayFlags): Promise<number> {
  const found = await findRun({ run, target });
  const recorded = { found, compiled: await readCompiled(found) };
  const source = await sourceOf(recorded, flags);
  const targets = target?.endsWith(".worker") ? [target] : source.targets;
  const recordedAs = { run: found.runId, store: found.store };
  const options = { toRun: true, forRun: recordedAs, ofProgram: source.ofProgram, advise: async () => trustAdvice };
  const { program, codeFiles } = await openProgram(targets, source.flags, options);
  if (found.isForeign && codeFiles.length > 0)
    throw new UsageError(`the program of ${found.runId} has code, and a record from elsewhere enters none`);
  const report = await replay({ program, ...recordedAs });
  const { runId, same, differences, drifts, verdicts } = report;
  await writeResult(
    flags.json
      ? renderJsonLine({ v: 1, runId, same, differences, drifts, verdicts })
      : renderReplay(report, process.stdout.columns || 80),
  );
  return same ? exitCodes.done : exitCodes.failed;
}
