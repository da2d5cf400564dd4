import { existsSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { CompileError } from "../../compile/compile-error.ts";
import { toJsonDiagnostic } from "../../diagnostics/to-json-diagnostic.ts";
import type { Program, RunOutput } from "../../front/llm-do.ts";
import { createNodeHost } from "../../host/node-host.ts";
import type { DeniedCall } from "../../protocol/approval.ts";
import type { StopReason } from "../../protocol/call.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Artifact } from "../../protocol/message.ts";
import { RunError } from "../../runtime/run-error.ts";
import { textOrJson } from "../../ui/explain/phrases.ts";
import { renderWaiting } from "../../ui/records/render-waiting.ts";
import { renderUsage } from "../../ui/render-usage.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import {
  exitCodeOfFailure,
  exitCodeOfResult,
  exitCodes,
  Interrupted,
  isUnanswered,
  needsApproval,
  UsageError,
} from "../exit-codes.ts";
import { renderJsonLine, writeStderr } from "../output.ts";
import { describeMore } from "../records/more-allowed.ts";
import { executorGoesOn, type RepeatedFlags, resumeLine, waitingSteps } from "../records/resume-line.ts";
import type { JsonArtifact, JsonResult } from "./json-result.ts";
import { renderFailure } from "./render-failure.ts";
import { deliverResult, isFolder } from "./result-file.ts";

export interface ReportFlags extends RepeatedFlags {
  /** That of the run. Default: it did not compile. */
  readonly program?: Program;
  readonly json?: boolean;
  /** A file for the result, in the place of stdout. */
  readonly output?: string;
  readonly quiet?: boolean;
  readonly verbose: number;
  readonly debug?: boolean;
  /** True: executors go on with the run. Default false. */
  readonly isSubmitted?: boolean;
  /** False: no record was kept. Default true. */
  readonly journal?: boolean;
  /** The output stands on the terminal already. Default false. */
  readonly isShown?: boolean;
}

/** The result to stdout; to stderr what a person must know about how it came to be. Gives the exit code. */
export async function reportResult(result: RunOutput, flags: ReportFlags): Promise<number> {
  const exitCode = exitCodeOfResult(result);
  const { output, usage, runId, stopReason, denied, reason } = result;
  const why = reason === undefined ? {} : { reason };
  const artifacts = await deliverArtifacts(result.artifacts, flags.output);
  const made = artifacts.map(describeArtifact);
  const facts: JsonResult = { v: 1, runId, output, stopReason, ...why, usage, artifacts: made, denied, exitCode };
  const isDelivered = flags.isShown || (await deliver(flags, { facts, text: renderOutput(output) }));
  if (!flags.quiet) for (const artifact of artifacts) writeStderr(renderArtifact(artifact));
  const ending = describeEnding(result);
  if (ending !== undefined) writeStderr(`llm-do: ${ending}\n${describeWayOn(result, flags)}`);
  if (needsApproval(denied)) writeStderr(renderNeeded(denied));
  return isDelivered || exitCode !== exitCodes.done ? exitCode : exitCodes.failed;
}

/** Returns why a result is not whole; undefined where it is. */
export function describeEnding({ stopReason, reason = "" }: RunOutput): string | undefined {
  if (stopReason === "done") return undefined;
  const how = stopReason === "limit" ? "the run ended at a limit" : "the answer was cut off";
  return `${how}: ${escapeText(reason, { keepBackslashes: true })}; the output is what there was so far`;
}

/** Says how a run goes on that ended at a limit, or whose answer was cut off. Empty if no record was kept. */
function describeWayOn(result: RunOutput, flags: ReportFlags): string {
  if (flags.journal === false) return "";
  return `llm-do: ${describeMore(result, flags.program?.entry, (limits) => resumeLine(result.runId, flags, limits))}\n`;
}

function deliver({ json, output }: ReportFlags, { facts, text }: { facts: JsonResult; text: string }): Promise<boolean> {
  return json ? deliverResult(renderJsonLine(facts), output, "result.json") : deliverResult(text, output, "result.txt");
}

function describeArtifact({ name, mediaType, bytes, sha256, callPath, path }: Artifact): JsonArtifact {
  return { name, mediaType, bytes, sha256, callPath, path: path ?? null };
}

function renderArtifact({ name, mediaType, bytes, path }: Artifact): string {
  const where = path === undefined ? "not kept; -o DIR keeps it" : escapeText(path, { keepBackslashes: true });
  return `llm-do: made ${escapeText(name)} (${escapeText(mediaType)}, ${bytes} bytes): ${where}\n`;
}

function renderOutput(output: JsonValue): string {
  const text = textOrJson(output);
  return text.endsWith("\n") || text === "" ? text : `${text}\n`;
}

/** Reports a failure on stderr, and with `--json` as an object of the same shape as a result. Returns the exit code. */
export async function reportFailure(thrown: unknown, flags: ReportFlags): Promise<number> {
  const exitCode = exitCodeOfFailure(thrown);
  const failed = thrown instanceof RunError ? thrown.run : undefined;
  const { runId = null, usage = null, denied = [], questions = [], behind = [] } = failed ?? {};
  const artifacts = (await deliverArtifacts(failed?.artifacts ?? [], flags.output)).map(describeArtifact);
  if (flags.json) {
    const error = {
      code: codeOf(thrown),
      message: errorMessage(thrown),
      ...(thrown instanceof CompileError ? { diagnostics: thrown.diagnostics.map(toJsonDiagnostic) } : {}),
    };
    const isSuspended = questions.length > 0;
    const stopReason = isSuspended ? "suspended" : stopReasonOf(exitCode);
    const waiting = isSuspended ? { questions } : {};
    const facts: JsonResult = { v: 1, runId, output: null, stopReason, usage, artifacts, denied, ...waiting, error, exitCode };
    await deliver(flags, { facts, text: "" });
  }
  writeStderr(await renderFailure(thrown, flags));
  if (runId !== null && questions.length > 0)
    writeStderr(
      renderWaiting(
        { runId, questions, steps: waitingSteps(runId, flags, flags.isSubmitted ? executorGoesOn : undefined) },
        behind,
      ),
    );
  else if (runId !== null && flags.journal !== false && (exitCode >= exitCodes.hungUp || exitCode === exitCodes.provider))
    writeStderr(`llm-do: \`${resumeLine(runId, flags)}\` goes on with it\n`);
  if (needsApproval(denied)) writeStderr(renderNeeded(denied));
  if (usage && flags.verbose > 0 && !flags.quiet) writeStderr(`llm-do: spent ${renderUsage(usage)}\n`);
  return exitCode;
}

function codeOf(thrown: unknown): string {
  if (thrown instanceof RunError) return thrown.code;
  if (thrown instanceof Interrupted) return "aborted";
  return thrown instanceof UsageError || exitCodeOfFailure(thrown) === exitCodes.usage ? "configuration" : "failed";
}

function stopReasonOf(exitCode: number): StopReason {
  if (exitCode >= exitCodes.hungUp) return "aborted";
  if (exitCode === exitCodes.limit) return "limit";
  return exitCode === exitCodes.denied || exitCode === exitCodes.approvalNeeded ? "denied" : "failed";
}

/** Lists the calls that an unattended run needed, and the lines that would allow them. */
function renderNeeded(denied: readonly DeniedCall[]): string {
  const needed = denied.filter(isUnanswered);
  const reason = needed.some(({ source }) => source === "timeout") ? "nobody answered in time" : "nobody could be asked";
  const calls = needed.map(({ worker, description }) => `  ${worker}: ${escapeText(description)}\n`);
  const rules = [...new Set(needed.flatMap(({ rule }) => (rule ? [`  --approve '${rule}'\n`] : [])))];
  const lines = [...new Set(needed.flatMap(({ worker, allow }) => (allow ? [`  in ${worker}: ${allow}\n`] : [])))];
  return [
    `llm-do: ${needed.length} ${needed.length === 1 ? "call" : "calls"} needed approval, and ${reason}:\n`,
    ...calls,
    `To answer, run at a terminal, or pass --hold and answer later; to allow this, pass --approve-all${rules.length > 0 ? ", or:" : ""}\n`,
    ...rules,
    ...(lines.length > 0 ? ["Or write:\n", ...lines] : []),
  ].join("");
}

/**
 * Delivers files where `-o` names a folder: the files that the run made go into its `artifacts/`, under names that are free there,
 * for a model chose them. One that cannot be written stays where the run has it, and stderr says so. Says of each where it is.
 */
async function deliverArtifacts(artifacts: readonly Artifact[], given: string | undefined): Promise<readonly Artifact[]> {
  if (given === undefined || !isFolder(given) || artifacts.length === 0) return artifacts;
  const { files } = createNodeHost();
  const folder = join(resolve(given), "artifacts");
  const delivered: Artifact[] = [];
  for (const artifact of artifacts) {
    try {
      await files.makeOwnDirectory(resolve(given), ["artifacts"]);
      const path = freePath(folder, artifact.name);
      await files.writeAtomically(path, Buffer.from(artifact.data, "base64"));
      delivered.push({ ...artifact, path });
    } catch (thrown) {
      const why = escapeText(errorMessage(thrown), { keepBackslashes: true });
      writeStderr(`llm-do: -o ${given}: ${escapeText(artifact.name)} could not be written there: ${why}\n`);
      delivered.push(artifact);
    }
  }
  return delivered;
}

function freePath(folder: string, name: string): string {
  const suffix = extname(name);
  const stem = name.slice(0, name.length - suffix.length);
  let path = join(folder, name);
  for (let n = 2; existsSync(path); n++) path = join(folder, `${stem}-${n}${suffix}`);
  return path;
}
