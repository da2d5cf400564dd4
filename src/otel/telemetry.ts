import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { type CallPath, parentCallPath } from "../protocol/call.ts";
import type { EventPart, EventSink, RunEvent } from "../protocol/event.ts";
import type { TraceContext, TraceLookup } from "../protocol/trace-context.ts";
import { version } from "../version.ts";
import { modelAttributes, usageAttributes } from "./attributes.ts";

export interface TelemetryOptions {
  /** Default: that of the tracer provider which the process has registered. */
  readonly tracer?: Tracer;
  /** Spans hold messages, arguments and results, without the secrets that the run knows. Default false. */
  readonly contents?: boolean;
}

type Of<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;

/** The parts of a request for a run that make it a trace. Neither throws. */
export interface Telemetry {
  readonly onEvent: EventSink;
  /** The span of a call, in the form of the process's propagator. */
  readonly traceOf: TraceLookup;
}

/**
 * Creates a listener that turns the events of one run, or of several, into spans by the conventions for generative AI: a call of a worker is
 * `invoke_agent`, a request to a model `chat`, the execution of a tool `execute_tool`. A run's first span is a child of the span that is
 * active when this is called, and the requests to MCP servers belong to the spans of their calls.
 */
export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const tracer = options.tracer ?? trace.getTracer("llm-do", version);
  const outer = context.active();
  const runs = new Map<string, RunSpans>();
  const onEvent: EventSink = (event) => {
    const run = runs.get(event.runId) ?? new RunSpans({ tracer, outer, contents: options.contents ?? false });
    runs.set(event.runId, run);
    run.add(event);
    if (event.type === "run-end") runs.delete(event.runId);
  };
  return { onEvent, traceOf: ({ runId, callPath }) => runs.get(runId)?.traceOf(callPath) };
}

interface SpanOptions {
  readonly tracer: Tracer;
  readonly outer: Context;
  readonly contents: boolean;
}

interface SpanEnd {
  readonly attributes?: Attributes;
  /** The kind of its failure. Absent: success. */
  readonly failure?: string | undefined;
}

/** The event that ends what another one begins. */
const ends: { readonly [Type in RunEvent["type"]]?: RunEvent["type"] } = {
  "call-start": "call-end",
  "turn-start": "turn-end",
  "tool-call": "tool-result",
};

/** The open spans of a run. A call path has at most one of each kind. */
class RunSpans {
  readonly #options: SpanOptions;
  readonly #agents = new Map<CallPath, Span>();
  readonly #tools = new Map<CallPath, Span>();
  readonly #requests = new Map<CallPath, Span>();
  /** Messages of a worker's conversation since its last request, and its model. */
  readonly #messages = new Map<CallPath, object[]>();

  /** Events of an earlier attempt of the run that began something, without those that ended it. */
  readonly #begun = new Map<string, RunEvent>();

  constructor(options: SpanOptions) {
    this.#options = options;
  }

  add(event: RunEvent): void {
    if (event.replayed) {
      this.#recall(event);
      return;
    }
    const begun = [...this.#begun.values()];
    this.#begun.clear();
    for (const { replayed: _, ...earlier } of begun) this.add(earlier);
    switch (event.type) {
      case "call-start":
        this.#startAgent(event);
        break;
      case "call-end":
        this.#end(this.#agents, event, { attributes: usageAttributes(event.usage), failure: failureOf(event.stopReason) });
        break;
      case "turn-start":
        this.#startRequest(event);
        break;
      case "turn-end":
        this.#endRequest(event);
        break;
      case "tool-call":
        this.#startTool(event);
        break;
      case "tool-result":
        this.#endTool(event);
        break;
      case "message":
        this.#keepMessage(event);
        break;
      case "run-end":
        this.#close(event);
        break;
      case "approval-decision":
      case "retry":
      case "limit":
      case "warning":
        this.#note(event);
        break;
      default:
    }
  }

  /** Spans of an earlier attempt were sent by it, or are lost. What it left under way gets a span of this attempt. */
  #recall(event: RunEvent): void {
    const { type, callPath } = event;
    if (Object.hasOwn(ends, type)) this.#begun.set(`${ends[type]} ${callPath}`, event);
    else this.#begun.delete(`${type} ${callPath}`);
  }

  traceOf(callPath: CallPath): TraceContext | undefined {
    const inside = this.#contextOf(callPath);
    const carrier: { traceparent?: string; tracestate?: string } = {};
    propagation.inject(inside, carrier);
    const { traceparent, tracestate } = carrier;
    return traceparent === undefined ? undefined : { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
  }

  #start(
    name: string,
    event: RunEvent,
    { kind, attributes }: { readonly kind: SpanKind; readonly attributes: Attributes },
  ): Span {
    const inside = this.#contextOf(event.callPath);
    return this.#options.tracer.startSpan(name, { startTime: event.time, kind, attributes }, inside);
  }

  #contextOf(path: CallPath): Context {
    const parent = this.#parentOf(path);
    return parent ? trace.setSpan(this.#options.outer, parent) : this.#options.outer;
  }

  /** The innermost open span around a call: its tool's, or that of the call above it. */
  #parentOf(path: CallPath): Span | undefined {
    for (let at: CallPath | undefined = path; at !== undefined; at = parentCallPath(at)) {
      const found = this.#agents.get(at) ?? this.#tools.get(at);
      if (found) return found;
    }
    return undefined;
  }

  #startAgent(event: Of<"call-start">): void {
    const { name, model, kind, callPath, runId } = event;
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": name,
      ...(model === undefined ? {} : modelAttributes(model)),
      "llm_do.run.id": runId,
      "llm_do.call.path": callPath,
    };
    if (kind === "worker" || parentCallPath(callPath) === undefined)
      this.#agents.set(callPath, this.#start(`invoke_agent ${name}`, event, { kind: SpanKind.INTERNAL, attributes }));
  }

  #startRequest(event: Of<"turn-start">): void {
    const attributes: Attributes = { "gen_ai.operation.name": "chat", ...modelAttributes(event.model) };
    const span = this.#start(`chat ${String(attributes["gen_ai.request.model"])}`, event, { kind: SpanKind.CLIENT, attributes });
    this.#requests.set(event.callPath, span);
    const input = this.#messages.get(event.callPath) ?? [];
    if (this.#options.contents && input.length > 0) span.setAttribute("gen_ai.input.messages", JSON.stringify(input));
    this.#messages.delete(event.callPath);
  }

  #endRequest(event: Of<"turn-end">): void {
    const { usage, finish, finishReason, text } = event;
    const output = [{ role: "assistant", parts: [{ type: "text", content: text }], finish_reason: finish }];
    this.#end(this.#requests, event, {
      attributes: {
        ...usageAttributes(usage),
        "gen_ai.response.finish_reasons": [finishReason ?? finish],
        ...(this.#options.contents ? { "gen_ai.output.messages": JSON.stringify(output) } : {}),
      },
    });
  }

  #startTool(event: Of<"tool-call">): void {
    const { tool, args, callPath, executedBy } = event;
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "gen_ai.tool.call.id": callPath,
      "gen_ai.tool.type": executedBy === "provider" ? "extension" : "function",
      ...(this.#options.contents ? { "gen_ai.tool.call.arguments": JSON.stringify(args) } : {}),
    };
    this.#tools.set(callPath, this.#start(`execute_tool ${tool}`, event, { kind: SpanKind.INTERNAL, attributes }));
  }

  #endTool(event: Of<"tool-result">): void {
    const { result } = event;
    const attributes = this.#options.contents ? { "gen_ai.tool.call.result": JSON.stringify(result) } : {};
    this.#end(this.#tools, event, { attributes, failure: result.ok ? undefined : result.error.type });
  }

  #keepMessage({ role, parts, callPath }: Of<"message">): void {
    if (!this.#options.contents || role === "assistant") return;
    const kept = this.#messages.get(callPath) ?? [];
    kept.push({ role, parts: parts.map(toPart) });
    this.#messages.set(callPath, kept);
  }

  #note(event: Of<"approval-decision" | "retry" | "limit" | "warning">): void {
    const span = this.#requests.get(event.callPath) ?? this.#parentOf(event.callPath);
    const attributes =
      event.type === "approval-decision"
        ? { "llm_do.decision": event.decision.type, "llm_do.decision.source": event.source, "gen_ai.tool.name": event.tool }
        : { "llm_do.message": event.type === "retry" ? event.reason : event.message };
    span?.addEvent(`llm_do.${event.type.replace("-", "_")}`, attributes, event.time);
  }

  #end(open: Map<CallPath, Span>, event: RunEvent, { attributes = {}, failure }: SpanEnd): void {
    const span = open.get(event.callPath);
    if (!span) return;
    open.delete(event.callPath);
    span.setAttributes(attributes);
    if (failure !== undefined) {
      span.setAttribute("error.type", failure);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(event.time);
  }

  /** Ends what a run left open: it was aborted, or failed. */
  #close(event: Of<"run-end">): void {
    const failure = failureOf(event.stopReason) ?? "aborted";
    for (const open of [this.#requests, this.#tools, this.#agents])
      for (const callPath of [...open.keys()].reverse()) this.#end(open, { ...event, callPath }, { failure });
  }
}

function failureOf(stopReason: string): string | undefined {
  return stopReason === "done" ? undefined : stopReason;
}

/** A part in the form of `gen_ai.input.messages`. */
function toPart(part: EventPart): object {
  if (part.type === "text" || part.type === "reasoning") return { type: part.type, content: part.text };
  if (part.type === "tool-result") return { type: "tool_call_response", id: part.id, response: part.result };
  if (part.type === "file") return { type: "blob", mime_type: part.mediaType, modality: part.mediaType.split("/")[0] };
  return { type: part.type };
}
