import { CompileError } from "../../compile/compile-error.ts";
import { renderDiagnostics } from "../../diagnostics/render-diagnostic.ts";
import { replay } from "../../llm-do.ts";
import { renderReplay } from "../../ui/render-replay.ts";
import { type CompileFlags, toCompileRequest, withKnownTrust } from "../compile-trusted.ts";
import { exitCodes } from "../exit-codes.ts";
import { findRun } from "../find-runs.ts";
import { reserveStdout, writeResult, writeStderr } from "../output.ts";

export interface ReplayFlags extends CompileFlags {
  readonly json?: boolean;
}

/** `llm-do replay [RUN] [TARGET]`: whether the program of today does what it did in a recorded run. Asks nobody, touches nothing. */
export async function replayCommand(run: string, target: string, flags: ReplayFlags): Promise<number> {
  reserveStdout();
  const directory = await findRun(run, target);
  try {
    const request = toCompileRequest([target], flags);
    const report = await withKnownTrust(request, (known) => replay({ ...known, directory }));
    const { runId, same, differences, drifts } = report;
    await writeResult(
      flags.json
        ? `${JSON.stringify({ v: 1, runId, same, differences, drifts })}\n`
        : renderReplay(report, process.stdout.columns || 80),
    );
    return same ? exitCodes.done : exitCodes.failed;
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
    writeStderr(`${renderDiagnostics(thrown.diagnostics)}\n`);
    return exitCodes.usage;
  }
}
