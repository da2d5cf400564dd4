import type { ApprovalPolicy } from "../../approval/policy.ts";
import { CompileError, UntrustedProgram } from "../../compile/compile-error.ts";
import { run } from "../../llm-do.ts";
import { nearestNames } from "../../util/nearest-names.ts";
import { openListeners } from "../event-sink.ts";
import { exitCodes, Interrupted, UsageError } from "../exit-codes.ts";
import { guardProcess } from "../guard-process.ts";
import { reserveStdout, writeStderr } from "../output.ts";
import { reportFailure, reportResult } from "../report-run.ts";
import { requireTrust } from "../require-trust.ts";
import { deliverResult } from "../result-file.ts";
import type { RunFlags } from "../run-flags.ts";
import { type GivenInput, readInput } from "../run-input.ts";
import { type BaseRequest, compileToRun, createRequest, verbosityOf, withInput } from "../run-request.ts";
import { readWords, type WrittenWords } from "../run-words.ts";
import { listenForSignals } from "../signals.ts";
import { findTerminal, type Terminal } from "../terminal.ts";

/** `llm-do [run] TARGET [PROMPT]`: stdout gets the result alone. Gives the exit code. */
export async function runCommand(words: WrittenWords, flags: RunFlags): Promise<number> {
  const controller = new AbortController();
  const { signal } = controller;
  const signals = listenForSignals((name) => controller.abort(new Interrupted(name)));
  const release = guardProcess((failure) => controller.abort(failure), flags);
  reserveStdout();
  try {
    const terminal = flags.headless ? undefined : findTerminal({ onInterrupt: signals.interrupt });
    const approval: ApprovalPolicy = flags.dryRun ? { mode: "reject_all" } : await createPolicy(flags, terminal);
    const read = readWords(words);
    const request = createRequest(read, flags, signal);
    const onWait = (what: string) =>
      flags.quiet || writeStderr(`llm-do: reading ${what} from stdin; where there is none, add < /dev/null\n`);
    const given = await readInput(read, flags, { signal, onWait });
    const work = flags.dryRun ? showFirstRequest : runAndReport;
    return await withTrust({ flags, request, approval, given, terminal }, work);
  } catch (thrown) {
    const exitCode = await reportFailure(thrown, flags);
    if (isMissingTarget(thrown)) suggestCommand(words.target);
    return exitCode;
  } finally {
    release();
    signals.close();
  }
}

function isMissingTarget(thrown: unknown): boolean {
  return thrown instanceof CompileError && thrown.diagnostics.some(({ code }) => code === "target-not-found");
}

/** A mistyped command is taken for a target. */
function suggestCommand(target: string): void {
  const [command] = nearestNames(target, commandNames);
  if (command !== undefined) writeStderr(`  = note: if a command was meant: llm-do ${command}\n`);
}

const commandNames = ["run", "check", "explain", "runs", "schema", "init", "help"];

interface Work {
  readonly flags: RunFlags;
  readonly request: BaseRequest;
  readonly approval: ApprovalPolicy;
  readonly given: GivenInput;
  readonly terminal: Terminal | undefined;
}

/** Asks for trust only where a program brings code, and before any of it has run. */
async function withTrust(work: Work, doIt: (work: Work) => Promise<number>): Promise<number> {
  const { request, terminal } = work;
  try {
    return await doIt(work);
  } catch (thrown) {
    if (!(thrown instanceof UntrustedProgram)) throw thrown;
    await requireTrust(thrown, { terminal, signal: request.signal ?? new AbortController().signal });
    return doIt({ ...work, request: { ...request, trust: true } });
  }
}

async function runAndReport({ flags, request, approval, given }: Work): Promise<number> {
  const withFields = await withInput(request, given);
  const { onEvent, close } = openListeners({ verbosity: verbosityOf(flags), events: flags.events });
  try {
    const result = await run({ ...withFields, approval, ...(onEvent ? { onEvent } : {}) });
    return await reportResult(result, flags);
  } finally {
    close();
  }
}

/** `--dry-run`: what would be sent first, and all that could come of it. */
async function showFirstRequest({ flags, request, approval, given }: Work): Promise<number> {
  const { program, outline } = await compileToRun(request);
  const { createFirstRequest } = await import("../dry-run.ts");
  const { renderFirstRequest } = await import("../../ui/explain/render-first-request.ts");
  const first = await createFirstRequest(program, { ...(await withInput(request, given)), approval });
  const { ceiling, ceilingDigest } = outline;
  const text = flags.json
    ? `${JSON.stringify({ v: 1, dryRun: true, ...first, ceiling, ceilingDigest })}\n`
    : renderFirstRequest(first, outline, process.stdout.columns || 80);
  return (await deliverResult(text, flags.output)) ? exitCodes.done : exitCodes.failed;
}

async function createPolicy(flags: RunFlags, terminal: Terminal | undefined): Promise<ApprovalPolicy> {
  const { approveAll, rejectAll, onDenied = "return", quiet } = flags;
  if (approveAll && rejectAll) throw new UsageError("--approve-all and --reject-all exclude one another");
  if (rejectAll) return { mode: "reject_all", onDenied };
  if (approveAll) {
    if (!quiet) writeStderr("llm-do: --approve-all: everything that would ask runs without a question\n");
    return { mode: "approve_all", onDenied };
  }
  if (!terminal) return { mode: "prompt", onDenied };
  const { createTerminalApprover } = await import("../terminal-approver.ts");
  return { mode: "prompt", approver: createTerminalApprover(terminal), onDenied };
}
