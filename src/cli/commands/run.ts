import { existsSync } from "node:fs";
import { join } from "node:path";
import { CompileError } from "../../compile/compile-error.ts";
import { type Program, type RunRequest, rehearse, run, warnOfPrices } from "../../front/llm-do.ts";
import { isRecord } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Limits } from "../../protocol/usage.ts";
import { inputSchemaOf } from "../../runtime/results/entry-input.ts";
import { RunError } from "../../runtime/run-error.ts";
import { attachmentField } from "../../toolsets/attachments.ts";
import { promptField } from "../../toolsets/workers/prompt-field.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { nearestNames } from "../../util/text/nearest-names.ts";
import { commandName } from "../command-name.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { findOtherCommand } from "../grammar/other-words.ts";
import { reserveStdout, writeStderr } from "../output.ts";
import { createGuardedHost } from "../process/guard-imports.ts";
import { guardProcess } from "../process/guard-process.ts";
import { listenForSignals } from "../process/signals.ts";
import { useProxies } from "../process/use-proxies.ts";
import { createWatchdog } from "../process/watchdog.ts";
import { type OpenProgram, openProgram } from "../programs/open-program.ts";
import { readUserConfig } from "../programs/user-config.ts";
import { createPolicy } from "../run/create-policy.ts";
import { findEarlierConversation } from "../run/earlier-conversation.ts";
import { openListeners } from "../run/event-sink.ts";
import { reportFailure, reportResult } from "../run/report-run.ts";
import { deliverResult } from "../run/result-file.ts";
import type { RunFlags } from "../run/run-flags.ts";
import { fitInput, readInput } from "../run/run-input.ts";
import { chooseLines, usesTui } from "../run/run-mode.ts";
import { createRequest, verbosityOf } from "../run/run-request.ts";
import { readWords, type WrittenWords } from "../run/run-words.ts";
import { findTerminal, type Terminal } from "../terminal/terminal.ts";
import type { TuiRun } from "../tui/run-in-tui.ts";

/** `llm-do [run] TARGET [PROMPT]`: stdout gets the result alone. Returns the exit code. `commands` are the names of all commands. */
export async function runCommand(words: WrittenWords, flags: RunFlags, commands: readonly string[]): Promise<number> {
  using signals = listenForSignals();
  const { controller } = signals;
  const { signal } = controller;
  using _guard = guardProcess(controller, flags);
  using watchdog = createWatchdog({ hasTerminal: !flags.headless });
  // A reader of stderr who stops reading keeps the main thread.
  if (flags.events === "-") watchdog.start();
  reserveStdout();
  let program: Program | undefined;
  try {
    const terminal = flags.headless ? undefined : findTerminal(signals);
    const isDrawn = chooseTui(flags, terminal);
    const approval = await createPolicy(flags, terminal);
    const read = readWords({ ...words, tellsEvents: flags.events === "-" });
    const request = createRequest(flags, signal);
    const onWait = (what: string) =>
      flags.quiet || writeStderr(`llm-do: reading ${what} from stdin; where there is none, add < /dev/null\n`);
    const given = await readInput(read, flags, { signal, onWait });
    const { host, limitLoading, startRun } = createGuardedHost({ controller, watchdog });
    const onLimits = (ofProgram: Limits) => limitLoading(request.limits?.seconds ?? ofProgram.seconds);
    const guards = { signal, host, onLimits, onCode: watchdog.start };
    const opened = await openProgram(read.targets, flags, { terminal, toRun: true, quiet: flags.quiet, ...guards });
    program = opened.program;
    if (!flags.quiet && verbosityOf(flags) === 0) tellWarnings(warnOfPrices(opened.program, request));
    const fitted = await fitInput(given, opened.program);
    const isMissing = fitted === undefined && isDrawn && terminal && !flags.chat;
    const input = isMissing ? await askForPrompt(terminal, opened.program, signal) : fitted;
    const ofFlags = { ...(input === undefined ? {} : { input }), ...(await readEarlier(opened.program, flags)) };
    const whole = { ...request, program: opened.program, approval, ...ofFlags };
    if (flags.dryRun) return await showFirstRequest(whole, opened, flags);
    await useProxies(process.env, (message) => flags.quiet || writeStderr(`llm-do: ${message}\n`));
    await using telemetry = flags.otel ? await (await import("../process/telemetry.ts")).openTelemetry(flags) : undefined;
    const { onEvent = () => undefined, ...tracing } = telemetry?.begin() ?? {};
    const traced = { ...whole, ...tracing };
    const onRun = () => startRun(secondsOf(opened.program, request));
    if (isDrawn && terminal) {
      const onIdle = () => watchdog.limit(undefined);
      const start = { request: traced, opened, host, targets: read.targets, flags, terminal, onRun, onIdle, signals };
      return await runDrawn({ ...start, onEvent });
    }
    await onRun();
    return await runAndReport({ ...traced, onEvent }, opened.program, flags);
  } catch (thrown) {
    const exitCode = await reportFailure(thrown, flags);
    if (isMissingTarget(thrown)) suggestWords(words, commands);
    if (thrown instanceof RunError && thrown.code === "input_invalid" && !flags.quiet) suggestInput(words, flags, program);
    return exitCode;
  }
}

function tellWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) writeStderr(`llm-do: warning: ${escapeText(warning, { keepBackslashes: true })}\n`);
}

/** The conversation of `-c`. Tells which run it is of. */
async function readEarlier(program: Program, flags: RunFlags): Promise<{ readonly history?: readonly Message[] }> {
  if (!flags.continue) return {};
  const { runId, history } = await findEarlierConversation(program);
  if (!flags.quiet) writeStderr(`llm-do: goes on with run ${runId}, ${history.length} messages\n`);
  return { history };
}

/** The time after which a run, or its entry, ends. */
export function secondsOf(
  { entry, limits: ofProgram }: Program,
  { limits: ofRun }: Pick<RunRequest, "limits">,
): number | undefined {
  const ofEntry = entry.kind === "worker" ? entry.worker.limits.seconds : undefined;
  const all = [ofRun?.seconds ?? ofProgram.seconds, ofEntry].filter((seconds) => seconds !== undefined);
  return all.length === 0 ? undefined : Math.min(...all);
}

function isMissingTarget(thrown: unknown): boolean {
  return thrown instanceof CompileError && thrown.diagnostics.some(({ code }) => code === "target-not-found");
}

/** Explains how input is given, where none was. */
function suggestInput(
  { target, rest, afterDashes }: WrittenWords,
  { input, inputJson, attachment }: RunFlags,
  program: Program | undefined,
): void {
  const schema = program ? inputSchemaOf(program) : {};
  const file = attachmentField(schema)?.name;
  if (file !== undefined && input?.some((one) => one.startsWith(`${file}=`)))
    writeStderr(`  = note: ${file} takes a path in the entry's scopes; --attachment FILE passes a file of this folder\n`);
  const { required, properties } = schema;
  if (rest.length > 0 || afterDashes !== undefined || input || inputJson !== undefined || attachment) {
    const given = new Set([promptField(schema).field, file, ...(input ?? []).map((one) => one.split("=", 1)[0])]);
    const missing = Array.isArray(required) ? required.map(String).filter((name) => !given.has(name)) : [];
    if (inputJson !== undefined || missing.length === 0) return;
    writeStderr(`  = note: -i gives a field: ${missing.map((name) => `-i ${escapeText(name)}=…`).join(" ")}\n`);
    return;
  }
  const names = Array.isArray(required) ? required.map(String) : isRecord(properties) ? Object.keys(properties) : [];
  const fields = names.map((name) => `-i ${escapeText(name)}=…`).join(" ");
  if (program && promptField(schema).field === undefined)
    writeStderr(`  = note: -i gives a field: ${commandName()} ${target} ${fields}\n`);
  else
    writeStderr(
      `  = note: a prompt follows the program (${commandName()} ${target} "what to do"), and -i key=value gives a field\n`,
    );
}

/** Asks for the text that the entry cannot do without, where a person is there to ask. Undefined: it needs none, or none is given. */
async function askForPrompt(terminal: Terminal, program: Program, signal: AbortSignal): Promise<string | undefined> {
  const schema = inputSchemaOf(program);
  const { field } = promptField(schema);
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const isEnough = field !== undefined && required.every((name) => name === field || name === attachmentField(schema)?.name);
  if (!isEnough || !required.includes(field) || program.args !== undefined) return undefined;
  const text = "What to do? An empty line ends without a run.\n";
  const line = await terminal.ask({ text, read: (written) => ({ answer: written?.trim() ?? "" }) }, signal);
  if (line === "")
    throw new UsageError(`nothing was asked for; a prompt can also follow the program (${commandName()} . "what to do")`);
  return line;
}

/** A mistyped command, and a prompt without its program, are taken for a target. */
function suggestWords({ target, rest: [next = "."] }: WrittenWords, commands: readonly string[]): void {
  const command = findOtherCommand(target) ?? nearestNames(target, commands)[0];
  if (command !== undefined) writeStderr(`  = note: if a command was meant: ${commandName()} ${command}\n`);
  const isPath = /[\\/]|\.\w+$/.test(target) && !/\s/.test(target);
  if (command === undefined && !isPath && existsSync(join(next, "main.worker")))
    writeStderr(`  = note: the program comes first: ${commandName()} ${escapeText(next)} "${escapeText(target)}"\n`);
}

/** Returns whether the run is a session at the terminal. Throws a `UsageError` for a conversation without a terminal. */
function chooseTui(flags: RunFlags, terminal: Terminal | undefined): boolean {
  const { stdin, stdout, stderr } = process;
  const streams = { stdin: stdin.isTTY, stdout: stdout.isTTY, stderr: stderr.isTTY, terminal: terminal !== undefined };
  const isDrawn = usesTui(flags, streams, process.env);
  if (flags.chat && !isDrawn)
    throw new UsageError(
      "--chat needs a terminal, and no --headless or --dry-run; without one, pass each message to a run, with -c after the first",
    );
  if (flags.tui && !isDrawn && !flags.quiet) writeStderr("llm-do: --tui: there is no terminal to draw on; lines are printed\n");
  return isDrawn;
}

/** The terminal UI is loaded by the runs that it draws. */
async function runDrawn(start: TuiRun): Promise<number> {
  const { flags, onEvent: also } = start;
  const { runInTui } = await import("../tui/run-in-tui.ts");
  using listeners = openListeners({ verbosity: 0, quiet: true, events: flags.events, also });
  return await runInTui({ ...start, onEvent: listeners.onEvent });
}

async function runAndReport(request: RunRequest, program: Program, given: RunFlags): Promise<number> {
  const flags = await withOwnVerbosity(given);
  const verbosity = verbosityOf(flags);
  const { streams, showsProgress } = chooseLines(flags, program, process);
  const quiet = flags.quiet ?? false;
  const also = request.onEvent;
  using listeners = openListeners({ verbosity, quiet, events: flags.events, streams, showsProgress, ...(also ? { also } : {}) });
  const { onEvent, streamed } = listeners;
  const deltas = request.deltas || streams || verbosity >= 2;
  const result = await run({ ...request, deltas, onEvent });
  return await reportResult(result, { ...flags, program, isShown: streams && result.output === streamed() });
}

/** The user's verbosity holds where no flag says another. */
async function withOwnVerbosity(flags: RunFlags): Promise<RunFlags> {
  if (flags.quiet || flags.debug || flags.verbose > 0) return flags;
  const { verbosity } = await readUserConfig();
  return verbosity ? { ...flags, verbose: verbosity.value } : flags;
}

/** `--dry-run`: what would be sent first, and all that could come of it. */
async function showFirstRequest(request: RunRequest, { outline }: OpenProgram, flags: RunFlags): Promise<number> {
  const { renderFirstRequest } = await import("../../ui/explain/render-first-request.ts");
  const first = await rehearse(request);
  const { ceiling, ceilingDigest } = outline;
  const text = flags.json
    ? `${JSON.stringify({ v: 1, dryRun: true, ...first, ceiling, ceilingDigest })}\n`
    : renderFirstRequest(first, outline, process.stdout.columns || 80);
  return (await deliverResult(text, flags.output)) ? exitCodes.done : exitCodes.failed;
}
