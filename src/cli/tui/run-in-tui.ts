import type { ApproverOptions } from "../../approval/policy.ts";
import { type RunOutput, type RunRequest, run } from "../../front/llm-do.ts";
import type { Host } from "../../host/host.ts";
import type { EventSink } from "../../protocol/event.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { addUsage, type Limits, noUsage, type Usage } from "../../protocol/usage.ts";
import { inputSchemaOf } from "../../runtime/results/entry-input.ts";
import { RunError } from "../../runtime/run-error.ts";
import { promptField } from "../../toolsets/workers/prompt-field.ts";
import { textOrJson } from "../../ui/explain/phrases.ts";
import { exitCodeOfFailure, exitCodeOfResult, exitCodes, Interrupted } from "../exit-codes.ts";
import type { SignalListener } from "../process/signals.ts";
import { type OpenProgram, openProgram } from "../programs/open-program.ts";
import { renderFailure } from "../run/render-failure.ts";
import { describeEnding, reportFailure, reportResult } from "../run/report-run.ts";
import type { RunFlags } from "../run/run-flags.ts";
import { wantsLines } from "../run/run-mode.ts";
import { verbosityOf } from "../run/run-request.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { createTerminalApprover } from "../terminal/terminal-approver.ts";
import { attachFiles, completeWord } from "./attach-files.ts";
import { type InputHistory, noHistory, openInputHistory } from "./input-history.ts";
import { PlainChat, type Surface } from "./plain-chat.ts";
import { portableHistory } from "./portable-history.ts";
import { runSlashCommand, type Session, slashCommands } from "./slash-commands.ts";
import { Tui } from "./tui.ts";

export interface TuiRun {
  readonly request: RunRequest;
  readonly opened: OpenProgram;
  readonly host: Host;
  readonly targets: readonly string[];
  readonly flags: RunFlags;
  readonly terminal: Terminal;
  /** Called before each run. */
  readonly onRun: () => Promise<void>;
  /** Called after each run. */
  readonly onIdle: () => void;
  readonly signals: SignalListener;
  /** The listener of `--events=FILE`. */
  readonly onEvent: EventSink;
}

/** Runs a program, or holds a conversation with it, in the terminal UI. Reports after it has closed. Returns the exit code. */
export async function runInTui(start: TuiRun): Promise<number> {
  const { flags, signals, host } = start;
  const history = flags.journal ? await openInputHistory(host) : noHistory;
  const session = new TuiSession(start, history);
  const giveBack = signals.redirect(session.tui.interrupt);
  let ended: Ended;
  try {
    ended = flags.chat ? await session.chat() : await session.runOnce();
  } finally {
    giveBack();
    session.tui.close();
    await history.written();
  }
  if ("failure" in ended) return reportFailure(ended.failure, flags);
  if (!ended.result) return ended.exitCode;
  const isShown = process.stdout.isTTY && flags.output === undefined && !flags.json && ended.result.output === ended.shown;
  const exitCode = await reportResult(ended.result, { ...flags, isShown });
  return flags.chat ? ended.exitCode || exitCode : exitCode;
}

type Ended =
  | { readonly failure: unknown }
  /** `shown`: the text that stands on the terminal already. */
  | { readonly result: RunOutput | undefined; readonly shown: string | undefined; readonly exitCode: number };

class TuiSession {
  readonly tui: Surface;
  readonly #start: TuiRun;
  readonly #session: Session;
  #opened: OpenProgram;
  #flags: RunFlags;
  #history: readonly Message[] = [];
  #memory: ApproverOptions["memory"] | undefined;
  #spent: Usage = noUsage;
  #controller: AbortController | undefined;
  /** Another model is looked at, which can ask for trust. */
  #opening: AbortController | undefined;

  constructor(start: TuiRun, inputHistory: InputHistory) {
    const { flags, targets } = start;
    this.#start = start;
    this.#opened = start.opened;
    this.#flags = flags;
    this.#history = start.request.history ?? [];
    const isPlain = flags.plain || (!flags.tui && wantsLines(process.env));
    this.tui = isPlain ? this.#openPlain() : this.#openTui(inputHistory);
    this.#session = {
      tui: this.tui,
      target: targets[0] ?? ".",
      unisolated: flags.unisolated ?? false,
      program: () => this.#opened,
      history: () => (flags.chat ? this.#history : undefined),
      memory: () => this.#memory,
      useModel: (model) => this.#useModel(model),
      clear: () => {
        if (this.#controller) return false;
        this.#history = [];
        return true;
      },
    };
  }

  #openTui(history: InputHistory): Tui {
    const { flags, terminal, signals } = this.#start;
    const commands = Object.keys(slashCommands).map((name) => `/${name}`);
    return new Tui({
      output: terminal.output,
      isChat: flags.chat ?? false,
      onInterrupt: () => (flags.chat ? this.#stopMessage() : signals.interrupt()),
      runEditor: terminal.runEditor,
      history,
      onGone: () => this.tui.leave(),
      runCommand: (line) => runSlashCommand(line, this.#session),
      complete: (before) => completeWord(before, commands),
    });
  }

  /** A typed message stands on the terminal already. */
  #openPlain(): PlainChat {
    const { flags, terminal, request } = this.#start;
    return new PlainChat({
      terminal,
      verbosity: verbosityOf(flags),
      signal: request.signal ?? new AbortController().signal,
      onInterrupt: () => this.#stopMessage(),
      runCommand: (line) => runSlashCommand(line, this.#session),
    });
  }

  async runOnce(): Promise<Ended> {
    try {
      const result = await this.#run(this.#start.request);
      return { result, shown: this.tui.shownText, exitCode: exitCodeOfResult(result) };
    } catch (failure) {
      return { failure };
    }
  }

  /** Takes messages until the person leaves. Each is a run of its own, which goes on with the conversation. */
  async chat(): Promise<Ended> {
    const { request } = this.#start;
    const { input, attachments = [], signal } = request;
    // A signal ends the wait for a message, too.
    const leave = () => this.tui.leave();
    signal?.addEventListener("abort", leave);
    let ended: AnsweredMessage = { result: undefined, shown: undefined, exitCode: exitCodes.done };
    if (input !== undefined || attachments.length > 0) {
      if (typeof input === "string") this.tui.print(`> ${input}`);
      ended = await this.#answer(async () => request, ended);
    }
    while (!signal?.aborted) {
      const message = await this.tui.nextMessage();
      if (message === undefined) break;
      if (this.tui instanceof Tui) this.tui.print(`> ${message.replaceAll("\n", "\n  ")}`);
      ended = await this.#answer(() => this.#requestOf(message), ended);
    }
    signal?.removeEventListener("abort", leave);
    return signal?.aborted ? { ...ended, exitCode: exitCodeOfFailure(signal.reason) } : ended;
  }

  /** The run of a message. Other fields of the input stay as they were given. */
  async #requestOf(message: string): Promise<RunRequest> {
    const { request } = this.#start;
    const { program } = this.#opened;
    const { missing, ...files } = await attachFiles(message, program);
    for (const path of missing) this.tui.print(`@${path} names no file, and is sent as it stands.`);
    const { field } = promptField(inputSchemaOf(program));
    const fields = typeof request.input === "object" ? request.input : {};
    const input: JsonObject | string = field === undefined ? message : { ...fields, [field]: message };
    return { ...request, ...files, input };
  }

  /** Answers a message. A failure is shown, and the conversation stays as it was. */
  async #answer(request: () => Promise<RunRequest>, before: AnsweredMessage): Promise<AnsweredMessage> {
    const controller = new AbortController();
    this.#controller = controller;
    const outer = this.#start.request.signal;
    try {
      const signal = outer ? AbortSignal.any([outer, controller.signal]) : controller.signal;
      const limits = this.#limitsLeft();
      const whole = { ...(await request()), limits, signal };
      const result = await this.#run({ ...whole, program: this.#opened.program, history: this.#history });
      this.#history = result.messages;
      this.#spent = addUsage(this.#spent, result.usage);
      const ending = describeEnding(result);
      if (ending !== undefined) this.tui.print(ending);
      const artifacts = [...(before.result?.artifacts ?? []), ...result.artifacts];
      if (result.output !== this.tui.shownText) this.tui.print(textOrJson(result.output));
      const shown = typeof result.output === "string" ? result.output : undefined;
      return { result: { ...result, artifacts, usage: this.#spent }, shown, exitCode: exitCodeOfResult(result) };
    } catch (thrown) {
      if (thrown instanceof RunError && thrown.run) this.#spent = addUsage(this.#spent, thrown.run.usage);
      const failure = await renderFailure(thrown, { debug: this.#flags.debug ?? false });
      this.tui.print(`${failure.trimEnd()}\nThis message is not a part of the conversation.`);
      return { ...before, exitCode: exitCodeOfFailure(thrown) };
    } finally {
      this.#controller = undefined;
    }
  }

  async #run(request: RunRequest): Promise<RunOutput> {
    const { entry } = this.#opened.program;
    const showsText = entry.kind === "worker" && entry.worker.output === undefined;
    this.tui.startRun({ limits: this.#start.request.limits ?? {}, showsText });
    this.#memory = undefined;
    const ask = createTerminalApprover(this.tui.terminal);
    const approver: typeof ask = (question, options) => {
      this.#memory = options.memory;
      return ask(question, options);
    };
    const onEvent: EventSink = (event) => {
      this.tui.onEvent(event);
      this.#start.onEvent(event);
    };
    const { approval } = request;
    const asked = approval.mode === "prompt" ? { ...approval, approver, settle: approver } : approval;
    try {
      await this.#start.onRun();
      return await run({ ...request, approval: asked, deltas: true, onEvent });
    } finally {
      this.#start.onIdle();
      this.tui.endRun();
    }
  }

  /** Tokens and dollars are limits of the whole conversation. */
  #limitsLeft(): Limits {
    const { limits = {} } = this.#start.request;
    const { inputTokens, outputTokens, usd = 0 } = this.#spent;
    const left = (limit: number | undefined, spent: number, name: "tokens" | "usd"): Limits => {
      if (limit === undefined) return {};
      if (spent < limit) return { [name]: limit - spent };
      throw new RunError("failed", `the limit of the conversation is reached: ${name} ${limit}`);
    };
    return { ...limits, ...left(limits.tokens, inputTokens + outputTokens, "tokens"), ...left(limits.usd, usd, "usd") };
  }

  #stopMessage(): void {
    this.#opening?.abort(new Interrupted("SIGINT"));
    if (!this.#controller) return;
    if (this.#controller.signal.aborted) process.exit(exitCodes.interrupted);
    this.tui.print("Stopping; press Ctrl-C again to end at once.");
    this.#controller.abort(new Interrupted("SIGINT"));
  }

  async #useModel(model: string): Promise<string> {
    const { targets, host } = this.#start;
    const { entry } = this.#opened.program;
    if (entry.kind === "code") return "The entry is code, and has no model.";
    if (this.#controller) return "A run keeps its model; choose another one when it has ended.";
    const flags = { ...this.#flags, modelFor: [...(this.#flags.modelFor ?? []), `${entry.worker.name}=${model}`] };
    this.#opening = new AbortController();
    const options = { terminal: this.tui.terminal, toRun: true, quiet: true, host, signal: this.#opening.signal };
    let opened: OpenProgram;
    try {
      opened = await openProgram(targets, flags, options);
    } catch (thrown) {
      return (await renderFailure(thrown, {})).trimEnd();
    } finally {
      this.#opening = undefined;
    }
    if (this.#controller) return "A run began meanwhile, and keeps its model; choose another one when it has ended.";
    this.#opened = opened;
    this.#flags = flags;
    this.#history = portableHistory(this.#history);
    return `The next message goes to ${model}.`;
  }
}

type AnsweredMessage = Exclude<Ended, { readonly failure: unknown }>;
