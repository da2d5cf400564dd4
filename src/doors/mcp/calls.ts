import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type RequestId,
  SdkError,
  SdkErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ApprovalPolicy } from "../../approval/policy.ts";
import { type RunOutput, run } from "../../front/llm-do.ts";
import type { ApprovalDecision } from "../../protocol/approval.ts";
import type { EventSink } from "../../protocol/event.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { getOwn } from "../../util/get-own.ts";
import { takeInlineFiles } from "../inline-files.ts";
import type { OfferedWorker } from "../offered-worker.ts";
import { renderQuestion } from "../render-question.ts";
import type { DoorRuns } from "../running-call.ts";
import { type AskedQuestion, askedBy, type RunningCall, type Step, startCall } from "../running-call.ts";
import type { KeptFiles } from "./files.ts";
import { canAsk, describeFailure, failure, formOf, progressOf, readDecision, toResult } from "./results.ts";

export interface CallOptions extends DoorRuns {
  /** Questions go to clients that can show a form. A client may be an agent that answers by itself. */
  readonly askClient: boolean;
  /** Runs go on when their client is gone. */
  readonly outlivesClient: boolean;
  /** Milliseconds that a question waits for its answer. */
  readonly patience: number;
  /** Calls back after so many milliseconds. Returns what ends the wait. */
  readonly after: (milliseconds: number, expire: () => void) => () => void;
}

/** Most calls under way at once: a client that floods is refused. */
const mostCalls = 32;

const unanswered = "nobody answered in time";

interface NewCall {
  readonly worker: OfferedWorker;
  readonly args: JsonObject;
  readonly canBeAsked: boolean;
  /** `_meta` of the request. */
  readonly caller: Readonly<Record<string, unknown>> | undefined;
}

/** A run that a tool call began. */
interface Call {
  readonly worker: OfferedWorker;
  readonly running: RunningCall;
  /** Receives the events of the run: those of the request that waits for it. */
  listen: EventSink;
}

/** A question that a client was asked by the answer to a request. */
interface OpenQuestion {
  readonly call: Call;
  readonly request: RequestId;
  readonly stopTimer: () => void;
}

/** The runs of one `llm-do mcp`. */
export class McpCalls {
  readonly #options: CallOptions;
  readonly #files: KeptFiles;
  /** Calls that wait for an answer, by the id of the open question, which an answer uses up. */
  readonly #asking = new Map<string, OpenQuestion>();
  readonly #underWay = new Map<Call, Promise<unknown>>();

  constructor(options: CallOptions, files: KeptFiles) {
    this.#options = options;
    this.#files = files;
  }

  /**
   * Answers a request `tools/call`: begins a run, or goes on with the run whose question it answers, and waits for its next question or
   * its end.
   */
  async answer(worker: OfferedWorker, args: JsonObject, { server, context }: { server: Server; context: ServerContext }) {
    const { mcpReq } = context;
    const question = mcpReq.requestState<string>();
    if (question === undefined && this.#underWay.size >= mostCalls)
      return failure(`${mostCalls} calls are under way; call again when one has ended`);
    const begin = () => this.#begin({ worker, args, canBeAsked: canAsk(server, context), caller: mcpReq._meta });
    const call = question === undefined ? begin() : this.#take(question, worker);
    if (!call) return failure("this question was answered already, or its call has ended");
    call.listen = progressOf(context);
    const stop = () => {
      if (!(this.#options.outlivesClient && isGone(mcpReq.signal)))
        call.running.abort(new Error("the client cancelled the call"));
    };
    mcpReq.signal.addEventListener("abort", stop, { once: true });
    if (mcpReq.signal.aborted) stop();
    if (question !== undefined) call.running.answer(question, readDecision(getOwn(mcpReq.inputResponses ?? {}, "approval")));
    try {
      return this.#toAnswer(call, await this.#next(call, context), mcpReq.id);
    } finally {
      mcpReq.signal.removeEventListener("abort", stop);
      call.listen = () => undefined;
    }
  }

  /** Ends the run that waits for the answer to a question which a request led to. The library knows of open requests alone. */
  cancel(request: unknown): void {
    for (const [id, asking] of this.#asking) {
      if (asking.request !== request) continue;
      this.#asking.delete(id);
      asking.stopTimer();
      asking.call.running.abort(new Error("the client cancelled the call"));
    }
  }

  /** Ends all runs, or waits for those that go on without a client. */
  async close(): Promise<void> {
    for (const { stopTimer, call } of this.#asking.values()) {
      stopTimer();
      call.running.abort(new Error("the client is gone"));
    }
    if (!this.#options.outlivesClient)
      for (const { running } of this.#underWay.keys()) running.abort(new Error("the client is gone"));
    await Promise.allSettled(this.#underWay.values());
  }

  #begin({ worker, args, canBeAsked, caller }: NewCall): Call {
    const { policy, askClient, request } = this.#options;
    const { onEvent: traced, ...tracing } = this.#options.trace(caller);
    let ended: Promise<RunOutput> | undefined;
    const running = startCall(this.#options.within, (approver, signal) => {
      const approval = askClient && canBeAsked ? askedBy(policy, asWhole(approver)) : policy;
      const onEvent: EventSink = (event) => {
        call?.listen(event);
        traced?.(event);
      };
      const { program } = worker;
      ended = run({ ...request, ...tracing, ...takeInlineFiles(worker.input, args), program, approval, signal, onEvent });
      return ended;
    });
    const call: Call | undefined = { worker, running, listen: () => undefined };
    if (ended) this.#underWay.set(call, ended);
    ended?.catch(() => undefined).finally(() => this.#underWay.delete(call));
    return call;
  }

  /** Waits for the next step. A client of 2025 is asked while its request is open: it knows no `input_required`. */
  async #next({ running }: Call, { mcpReq }: ServerContext): Promise<Step> {
    for (;;) {
      const step = await running.next();
      if (step.type !== "question" || mcpReq.envelope !== undefined) return step;
      running.answer(step.id, await this.#elicit(step, mcpReq));
    }
  }

  /** Denies what was not answered in time, or by something else than the form. The run goes on. */
  async #elicit({ request }: AskedQuestion, { elicitInput, signal }: ServerContext["mcpReq"]): Promise<ApprovalDecision> {
    try {
      const form = formOf(renderQuestion(request) ?? "");
      return readDecision(await elicitInput(form, { timeout: this.#options.patience, signal }));
    } catch (thrown) {
      const isLate = thrown instanceof SdkError && thrown.code === SdkErrorCode.RequestTimeout;
      return { type: "deny", note: isLate ? unanswered : "the question was closed without an answer" };
    }
  }

  #take(question: string, worker: OfferedWorker): Call | undefined {
    const found = this.#asking.get(question);
    if (found?.call.worker !== worker) return undefined;
    this.#asking.delete(question);
    found.stopTimer();
    return found.call;
  }

  #toAnswer(call: Call, step: Step, request: RequestId): CallToolResult | InputRequiredResult {
    if (step.type === "failed") return failure(describeFailure(step.thrown, call.worker.name));
    if (step.type === "done") return toResult(call.worker, step.output, this.#files.keep(step.output));
    return this.#ask(call, step, request);
  }

  #ask(call: Call, { id, request: question }: AskedQuestion, request: RequestId): InputRequiredResult {
    const expire = () => {
      this.#asking.delete(id);
      call.running.answer(id, { type: "deny", note: unanswered });
    };
    const { after, patience } = this.#options;
    this.#asking.set(id, { call, request, stopTimer: after(patience, expire) });
    const approval = inputRequired.elicit(formOf(renderQuestion(question) ?? ""));
    return inputRequired({ inputRequests: { approval }, requestState: id });
  }
}

/** Denies what a form cannot show whole: nobody approves what was not shown. */
function asWhole(approver: NonNullable<ApprovalPolicy["approver"]>): NonNullable<ApprovalPolicy["approver"]> {
  return async (request, options) =>
    renderQuestion(request) === undefined
      ? { type: "deny", note: "the question is too long for a form; with --hold it waits for an answer at a terminal" }
      : approver(request, options);
}

function isGone({ reason }: AbortSignal): boolean {
  return reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
}
