import { readFileSync } from "node:fs";
import type { ApprovalPolicy } from "../../approval/policy.ts";
import { CompileError, UntrustedProgram } from "../../compile/compile-error.ts";
import { renderDiagnostics } from "../../diagnostics/render-diagnostic.ts";
import { type RunOutput, type RunRequest, run } from "../../llm-do.ts";
import type { DeniedCall } from "../../protocol/approval.ts";
import type { EventSink } from "../../protocol/event.ts";
import { RunError } from "../../runtime/run-error.ts";
import { createTextPrinter } from "../../ui/headless/text-printer.ts";
import { renderUsage } from "../../ui/render-usage.ts";
import { escapeText } from "../../util/escape-text.ts";
import { exitCodeOfFailure, exitCodeOfResult, exitCodes, Interrupted, needsApproval, UsageError } from "../exit-codes.ts";
import { writeResult, writeStderr } from "../output.ts";
import { listenForSignals } from "../signals.ts";
import { findTerminal } from "../terminal.ts";
import { createTerminalApprover } from "../terminal-approver.ts";

export interface RunFlags {
  readonly attachment?: readonly string[];
  readonly entry?: string;
  readonly model?: string;
  readonly approveAll?: boolean;
  readonly rejectAll?: boolean;
  readonly onDenied?: "return" | "stop";
  readonly headless?: boolean;
  readonly json?: boolean;
  readonly verbose: number;
  readonly quiet?: boolean;
  readonly trust?: boolean;
  readonly maxDepth?: number;
  /** Commander's spelling of `--no-journal`. */
  readonly journal: boolean;
  readonly debug?: boolean;
}

/** `llm-do [run] TARGET [PROMPT]`: stdout gets the result alone. Gives the exit code. */
export async function runCommand(target: string, prompt: string | undefined, flags: RunFlags): Promise<number> {
  const controller = new AbortController();
  const signals = listenForSignals((signal) => controller.abort(new Interrupted(signal)));
  try {
    const approval = createPolicy(flags, signals.interrupt);
    const result = await run(createRequest(target, { prompt, flags, approval, signal: controller.signal }));
    return await reportResult(result, flags);
  } catch (thrown) {
    return await reportFailure(thrown, flags);
  } finally {
    signals.close();
  }
}

function createPolicy(
  { approveAll, rejectAll, onDenied = "return", headless }: RunFlags,
  onInterrupt: () => void,
): ApprovalPolicy {
  if (approveAll && rejectAll) throw new UsageError("--approve-all and --reject-all exclude one another");
  if (approveAll) {
    writeStderr("llm-do: --approve-all: everything that would ask runs without a question\n");
    return { mode: "approve_all", onDenied };
  }
  if (rejectAll) return { mode: "reject_all", onDenied };
  const terminal = headless ? undefined : findTerminal({ onInterrupt });
  return terminal ? { mode: "prompt", approver: createTerminalApprover(terminal), onDenied } : { mode: "prompt", onDenied };
}

interface RequestParts {
  readonly prompt: string | undefined;
  readonly flags: RunFlags;
  readonly approval: ApprovalPolicy;
  readonly signal: AbortSignal;
}

function createRequest(target: string, { prompt, flags, approval, signal }: RequestParts): RunRequest {
  const { attachment = [], entry, model, verbose, quiet, trust = false, maxDepth, journal } = flags;
  const text = readPrompt(prompt);
  const sink: EventSink | undefined =
    verbose > 0 && !quiet ? createTextPrinter({ verbosity: verbose, write: writeStderr }) : undefined;
  return {
    target,
    approval,
    trust,
    journal,
    signal,
    deltas: verbose >= 2,
    attachments: attachment.map((path) => ({ path })),
    ...(text === undefined ? {} : { input: text }),
    ...(entry === undefined ? {} : { entry }),
    ...(model === undefined ? {} : { model }),
    ...(maxDepth === undefined ? {} : { limits: { depth: maxDepth } }),
    ...(sink ? { onEvent: sink } : {}),
  };
}

/** stdin is the prompt for `-`, or when there is no prompt and stdin is a pipe or a file. */
function readPrompt(prompt: string | undefined): string | undefined {
  if (prompt !== undefined && prompt !== "-") return prompt;
  if (process.stdin.isTTY) {
    if (prompt === "-") throw new UsageError("`-` reads the prompt from stdin, and stdin is a terminal");
    return undefined;
  }
  const text = readStdin();
  return prompt === undefined && text.trim() === "" ? undefined : text;
}

function readStdin(): string {
  try {
    return readFileSync(0, "utf8");
  } catch (thrown) {
    // A closed stdin, or one that was opened without waiting and has nothing: no prompt.
    const code = (thrown as { code?: string }).code;
    if (code === "EAGAIN" || code === "EBADF" || code === "EOF" || code === "EISDIR") return "";
    throw thrown;
  }
}

async function reportResult(result: RunOutput, flags: RunFlags): Promise<number> {
  const exitCode = exitCodeOfResult(result);
  const { output, usage, runId, stopReason, denied, reason } = result;
  if (flags.json) {
    await writeResult(
      `${JSON.stringify({ v: 1, runId, output, stopReason, ...(reason ? { reason } : {}), usage, artifacts: [], denied, exitCode })}\n`,
    );
  } else {
    const text = typeof output === "string" ? output : JSON.stringify(output, undefined, 2);
    await writeResult(text.endsWith("\n") || text === "" ? text : `${text}\n`);
  }
  if (!flags.quiet) explainEnd(result);
  return exitCode;
}

function explainEnd({
  stopReason,
  reason,
  denied,
}: Pick<RunOutput, "stopReason" | "denied"> & { readonly reason?: string }): void {
  if (stopReason === "limit")
    writeStderr(`llm-do: the run ended at a limit: ${reason ?? ""}; the output is what there was so far\n`);
  if (needsApproval(denied)) writeStderr(renderNeeded(denied));
}

/** What an unattended run needed, and the lines that would allow it. */
function renderNeeded(denied: readonly DeniedCall[]): string {
  const needed = denied.filter(({ source }) => source === "nobody");
  const calls = needed.map(({ worker, description }) => `  ${worker}: ${escapeText(description)}\n`);
  const lines = [...new Set(needed.flatMap(({ worker, allow }) => (allow ? [`  in ${worker}: ${allow}\n`] : [])))];
  return [
    `llm-do: ${needed.length} ${needed.length === 1 ? "call" : "calls"} needed approval, and nobody could be asked:\n`,
    ...calls,
    "To allow this, run at a terminal and approve, pass --approve-all, or write:\n",
    ...lines,
  ].join("");
}

async function reportFailure(thrown: unknown, flags: RunFlags): Promise<number> {
  const exitCode = exitCodeOfFailure(thrown);
  const failed = thrown instanceof RunError ? thrown.run : undefined;
  if (flags.json) {
    const error = { code: thrown instanceof RunError ? thrown.code : codeOf(exitCode), message: messageOf(thrown) };
    await writeResult(`${JSON.stringify({ v: 1, ...(failed ?? {}), output: null, stopReason: "failed", error, exitCode })}\n`);
  }
  writeStderr(renderFailure(thrown, flags));
  if (failed) explainEnd({ stopReason: "done", denied: failed.denied });
  if (failed && flags.verbose > 0) writeStderr(`llm-do: spent ${renderUsage(failed.usage)}\n`);
  return exitCode;
}

function codeOf(exitCode: number): string {
  return exitCode === exitCodes.usage ? "configuration" : "failed";
}

function renderFailure(thrown: unknown, { debug }: RunFlags): string {
  if (thrown instanceof CompileError) return `${renderDiagnostics(thrown.diagnostics)}\n`;
  if (thrown instanceof UntrustedProgram) return `llm-do: ${thrown.message}. Look at it, then run it with --trust.\n`;
  const stack = debug && thrown instanceof Error ? `\n${thrown.stack ?? ""}` : "";
  return `llm-do: ${escapeText(messageOf(thrown), { keepNewlines: true, keepBackslashes: true })}${stack}\n`;
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
