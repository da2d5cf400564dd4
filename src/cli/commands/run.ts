import { statSync } from "node:fs";
import type { ApprovalPolicy } from "../../approval/policy.ts";
import { CompileError, UntrustedProgram } from "../../compile/compile-error.ts";
import { type RunOutput, type RunRequest, run } from "../../llm-do.ts";
import type { EventSink } from "../../protocol/event.ts";
import type { Limits } from "../../protocol/usage.ts";
import { createTextPrinter } from "../../ui/headless/text-printer.ts";
import { nearestNames } from "../../util/nearest-names.ts";
import { Interrupted, UsageError } from "../exit-codes.ts";
import { guardProcess } from "../guard-process.ts";
import { reserveStdout, writeStderr } from "../output.ts";
import { readPrompt } from "../read-prompt.ts";
import { reportFailure, reportResult } from "../report-run.ts";
import { requireTrust } from "../require-trust.ts";
import { type RunWords, readWords, type WrittenWords } from "../run-words.ts";
import { listenForSignals } from "../signals.ts";
import { findTerminal, type Terminal } from "../terminal.ts";

export interface RunFlags {
  readonly attachment?: readonly string[];
  readonly entry?: string;
  readonly model?: string;
  readonly modelFor?: readonly string[];
  readonly set?: readonly string[];
  readonly approveAll?: boolean;
  readonly rejectAll?: boolean;
  readonly onDenied?: "return" | "stop";
  readonly headless?: boolean;
  readonly json?: boolean;
  readonly verbose: number;
  readonly quiet?: boolean;
  readonly trust?: boolean;
  readonly limit?: Limits;
  readonly maxDepth?: number;
  /** Commander's spelling of `--no-journal`. */
  readonly journal: boolean;
  readonly debug?: boolean;
}

/** `llm-do [run] TARGET [PROMPT]`: stdout gets the result alone. Gives the exit code. */
export async function runCommand(words: WrittenWords, flags: RunFlags): Promise<number> {
  const controller = new AbortController();
  const { signal } = controller;
  const signals = listenForSignals((name) => controller.abort(new Interrupted(name)));
  const release = guardProcess((failure) => controller.abort(failure), flags);
  reserveStdout();
  try {
    const terminal = flags.headless ? undefined : findTerminal({ onInterrupt: signals.interrupt });
    const approval = await createPolicy(flags, terminal);
    const request = await createRequest(readWords(words), { flags, approval, signal });
    return await reportResult(await runTrusted(request, { terminal, signal }), flags);
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

/** Asks for trust only where a program brings code, and before any of it has run. */
async function runTrusted(
  request: RunRequest,
  place: { readonly terminal: Terminal | undefined; readonly signal: AbortSignal },
): Promise<RunOutput> {
  try {
    return await run(request);
  } catch (thrown) {
    if (!(thrown instanceof UntrustedProgram)) throw thrown;
    await requireTrust(thrown, place);
    return run({ ...request, trust: true });
  }
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

interface RequestParts {
  readonly flags: RunFlags;
  readonly approval: ApprovalPolicy;
  readonly signal: AbortSignal;
}

async function createRequest(words: RunWords, { flags, approval, signal }: RequestParts): Promise<RunRequest> {
  const { attachment = [], entry, model, modelFor, set, quiet, trust = false, limit = {}, maxDepth, journal } = flags;
  const onWait = () => quiet || writeStderr("llm-do: reading the prompt from stdin; where there is none, add < /dev/null\n");
  const text = await readPrompt(words, { signal, onWait });
  const verbosity = quiet ? 0 : flags.debug ? Math.max(1, flags.verbose) : flags.verbose;
  const onEvent: EventSink | undefined = verbosity > 0 ? createTextPrinter({ verbosity, write: writeStderr }) : undefined;
  for (const path of attachment) checkAttachment(path);
  return {
    ...words.program,
    approval,
    trust,
    signal,
    deltas: verbosity >= 2,
    attachments: attachment.map((path) => ({ path })),
    ...(text === undefined ? {} : { input: text }),
    ...(entry === undefined ? {} : { entry }),
    ...(model === undefined ? {} : { model }),
    ...(modelFor ? { modelFor } : {}),
    ...(set ? { set } : {}),
    ...(journal ? {} : { journal }),
    limits: { ...limit, ...(maxDepth === undefined ? {} : { depth: maxDepth }) },
    ...(onEvent ? { onEvent } : {}),
  };
}

function checkAttachment(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`--attachment ${path}: there is no such file`);
  if (!stats.isFile()) throw new UsageError(`--attachment ${path}: this is not a file`);
}
