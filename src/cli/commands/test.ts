import { readFile } from "node:fs/promises";
import { type CaseChange, compareReports, type EarlierReport, readReport, takenBeyond } from "../../cases/baseline.ts";
import { runTests, type TestOptions, type TestRequest } from "../../cases/run-tests.ts";
import { NoTests } from "../../cases/test-suite.ts";
import type { Compiled } from "../../compile/compile.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { renderCase, renderChanges, renderTotals } from "../../ui/render-tests.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { reserveStdout, writeResult, writeStderr } from "../output.ts";
import { guardProcess } from "../process/guard-process.ts";
import { listenForSignals } from "../process/signals.ts";
import { useProxies } from "../process/use-proxies.ts";
import { isTrusted, requireTrust, type TrustOptions } from "../programs/require-trust.ts";
import { reportFailure } from "../run/report-run.ts";
import { findTerminal } from "../terminal/terminal.ts";

export interface TestFlags extends Omit<TestOptions, "providers" | "signal"> {
  readonly json?: boolean;
  /** The path of an earlier report, as --json printed it. */
  readonly baseline?: string;
  /** With `baseline`. */
  readonly tolerance?: number;
  /** `RUN[/CALL]`. */
  readonly from?: string;
  /** With `from`. */
  readonly name?: string;
}

/** `llm-do test [TARGET]`: runs the cases of `*.test.yaml` in scratch copies. 1 where one fails, or passes less often than before, 2 if one could not begin. */
export async function testCommand(target: string, given: TestFlags): Promise<number> {
  const { json = false, from, name, baseline, tolerance, ...flags } = given;
  refuseTogether(given);
  if (from !== undefined) return (await import("./test-from.ts")).testFromCommand(from, target, name);
  const earlier = baseline === undefined ? undefined : await readBaseline(baseline, tolerance);
  using signals = listenForSignals();
  const { signal } = signals.controller;
  using _guard = guardProcess(signals.controller, {});
  reserveStdout();
  try {
    const asksModel = flags.live || flags.record;
    if (asksModel) await useProxies(process.env, (message) => writeStderr(`llm-do: ${message}\n`));
    const terminal = findTerminal(signals);
    const confirm: TestRequest["confirm"] = (needing) => trustEach(needing, { terminal, signal, isGiven: flags.trust === true });
    const request: TestRequest = { ...flags, target, host: createNodeHost(), signal, confirm };
    let written = Promise.resolve();
    const report = await runTests(request, (one) => {
      if (!json) written = written.then(() => writeResult(renderCase(one)));
    });
    await written;
    const changes = earlier === undefined ? undefined : compareReports(earlier, report);
    const compared = changes ? { changes } : {};
    await writeResult(
      json ? `${JSON.stringify({ v: 1, ...report, ...compared })}\n` : renderTotals(report) + renderChanges(changes ?? []),
    );
    if (report.passed) return isWorse(changes ?? [], tolerance) ? exitCodes.failed : exitCodes.done;
    return report.cases.some(({ isMistake }) => isMistake) ? exitCodes.usage : exitCodes.failed;
  } catch (thrown) {
    const shown = thrown instanceof NoTests ? new UsageError(thrown.message) : thrown;
    return await reportFailure(signal.aborted ? signal.reason : shown, { json, verbose: 0 });
  }
}

function refuseTogether({ from, name, live, record, keep, baseline, tolerance, ...flags }: TestFlags): void {
  const others = { live, record, keep, baseline, tolerance, ...flags };
  if (from !== undefined && Object.values(others).some((value) => value !== undefined))
    throw new UsageError("--from runs nothing, and goes with --name alone");
  if (from === undefined && name !== undefined) throw new UsageError("--name is the name of the case that --from adds");
  if (live && record) throw new UsageError("--live and --record exclude one another: --record asks the model, too");
  if (keep && record) throw new UsageError("--keep and --record exclude one another: a recording is no record of a run");
  if (tolerance !== undefined && baseline === undefined) throw new UsageError("--tolerance compares with --baseline");
}

/** Says on stderr what is taken beyond the tolerance. */
function isWorse(changes: readonly CaseChange[], tolerance: number | undefined): boolean {
  const beyond = tolerance === undefined ? [] : changes.flatMap((change) => renderBeyond(change, takenBeyond(change, tolerance)));
  if (beyond.length > 0) writeStderr(`llm-do: beyond --tolerance ${tolerance}: ${beyond.join("; ")}\n`);
  return beyond.length > 0 || changes.some(({ difference }) => difference.upper < 0);
}

function renderBeyond({ file, name }: CaseChange, taken: readonly string[]): readonly string[] {
  return taken.length > 0 ? [`${file}: ${name}: ${taken.join(", ")}`] : [];
}

async function readBaseline(path: string, tolerance: number | undefined): Promise<EarlierReport> {
  const text = await readFile(path, "utf8").catch((thrown: unknown) => {
    throw new UsageError(`--baseline ${path}: ${errorMessage(thrown)}`);
  });
  const report = readReport(text);
  if (report && tolerance !== undefined && ![...report.values()].some(({ taken }) => taken.tokens))
    throw new UsageError(`--baseline ${path}: it does not say what a run took, so --tolerance holds nothing: write it anew`);
  if (report) return report;
  throw new UsageError(`--baseline ${path}: this is not what \`llm-do test --json\` printed`);
}

interface TestTrust extends TrustOptions {
  /** `--trust` was given. */
  readonly isGiven: boolean;
}

/** Asks for each program. Where nobody can be asked, one refusal names all of them, before code of any runs. */
async function trustEach(needing: readonly Compiled[], { isGiven, ...options }: TestTrust): Promise<void> {
  const refusals: string[] = [];
  for (const compiled of needing) {
    if (refusals.length > 0 && (await isTrusted(compiled))) continue;
    await requireTrust(compiled, options).catch((thrown: unknown) => {
      if (options.terminal || !(thrown instanceof UsageError)) throw thrown;
      refusals.push(thrown.message);
    });
  }
  if (refusals.length === 0) return;
  const note = isGiven ? ["--trust is for the program that is named, and not for those in its folder: name their folders"] : [];
  throw new UsageError([...refusals, ...note].join("\n"));
}
