import { type CallPath, parentCallPath } from "../../protocol/call.ts";
import type { RunEvent, RunEventBody } from "../../protocol/event.ts";
import type { FactOf, JournalEntry } from "../../protocol/fact.ts";
import { isRecord } from "../../protocol/json.ts";
import type { AnswerFinish, AssistantMessage, ToolResult } from "../../protocol/message.ts";
import type { ToolError } from "../../protocol/tool.ts";
import { noUsage, type Usage } from "../../protocol/usage.ts";
import { depthOf } from "../call-label.ts";
import { renderDecision } from "../render-decision.ts";

/** The recorded answer of a model. */
export interface RecordedAnswer {
  readonly message: AssistantMessage;
  readonly usage: Usage;
  readonly finish: AnswerFinish;
}

export function answerOf(entry: FactOf<"result">): RecordedAnswer | undefined {
  return entry.kind === "model" && entry.outcome.type === "value"
    ? (entry.outcome.value as unknown as RecordedAnswer)
    : undefined;
}

interface Begun {
  readonly tool: string;
  readonly time: number;
}

/**
 * Turns the entries of a journal back into the events that `foldEvent` takes. Deltas, progress and retries are not recorded. Facts of
 * types that it does not know have no events.
 */
export class JournalEvents {
  #runId = "";
  #entry = "";
  /** Calls that have begun, for what the facts of their end leave out. */
  readonly #begun = new Map<CallPath, Begun>();

  of(entry: JournalEntry): readonly RunEvent[] {
    if (entry.type === "run-start") [this.#runId, this.#entry] = [entry.runId, entry.entry];
    const callPath = "callPath" in entry ? entry.callPath : this.#entry;
    const envelope = { v: 1, runId: this.#runId, callPath, depth: depthOf(callPath), time: entry.time } as const;
    return this.#bodiesOf(entry).map((body) => ({ ...envelope, ...body }));
  }

  #bodiesOf(entry: JournalEntry): readonly RunEventBody[] {
    switch (entry.type) {
      case "run-start":
        return [{ type: "run-start", program: entry.program, entry: entry.entry, mode: entry.mode }];
      case "run-end":
        return [this.#runEnd(entry)];
      case "call-start": {
        const { kind, name, model, modelSource, callPath, time } = entry;
        if (!this.#begun.has(callPath)) this.#begun.set(callPath, { tool: name, time });
        return [{ type: "call-start", kind, name, ...(model ? { model } : {}), ...(modelSource ? { modelSource } : {}) }];
      }
      case "call-end":
        return this.#callEnd(entry);
      case "verdict":
        if (!this.#begun.has(entry.callPath)) this.#begun.set(entry.callPath, { tool: entry.tool, time: entry.time });
        return [{ type: "tool-call", tool: entry.tool, args: entry.args }];
      case "refusal":
        return [this.#toolResult(entry, { ok: false, error: entry.error })];
      case "decision":
        return this.#decision(entry);
      case "intent":
        return startOf(entry);
      case "result":
        return this.#result(entry);
      case "limit": {
        const { limit, allowed } = entry;
        const message = `the limit of ${allowed} ${limit.replaceAll("_", " ")} is reached`;
        return [{ type: "limit", limit, allowed, message }];
      }
      case "compaction": {
        const { window, before, after, dropped } = entry;
        return [{ type: "compaction", window, before, after, dropped }];
      }
      default:
        return [];
    }
  }

  #runEnd({ stopReason, reason, usage, error }: FactOf<"run-end">): RunEventBody {
    const more = { ...(reason === undefined ? {} : { reason }), ...(error ? { error: String(error["message"]) } : {}) };
    return { type: "run-end", stopReason, usage, ...more };
  }

  /** The end of a worker's call is the result that its caller got, unless it unwound the caller, too. */
  #callEnd(entry: JournalEntry & FactOf<"call-end">): readonly RunEventBody[] {
    const { callPath, stopReason, reason, usage, time } = entry;
    const { tool: name, time: startedAt } = this.#begunAt(callPath, time);
    const milliseconds = time - startedAt;
    const more = reason === undefined ? {} : { reason };
    const end: RunEventBody = { type: "call-end", kind: "worker", name, stopReason, usage, milliseconds, ...more };
    const result = parentCallPath(callPath) === undefined ? undefined : resultOf(entry);
    return result ? [end, this.#toolResult(entry, result)] : [end];
  }

  #decision({ callPath, tool, decision, source, stops, time }: JournalEntry & FactOf<"decision">): readonly RunEventBody[] {
    const body: RunEventBody = { type: "approval-decision", tool, decision, source, ...(stops ? { stops } : {}) };
    if (decision.type === "approve") return [body];
    const error: ToolError = { type: "denied", error: renderDecision({ decision, source }) };
    return [body, this.#toolResult({ callPath, time }, { ok: false, error })];
  }

  #result(entry: JournalEntry & FactOf<"result">): readonly RunEventBody[] {
    const { outcome, kind } = entry;
    const answer = answerOf(entry);
    if (answer) {
      const { message, finish } = answer;
      const usage = entry.shared ? noUsage : answer.usage;
      const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      return [{ type: "turn-end", turn: Number.parseInt(entry.key.slice("model ".length), 10), usage, text, finish }];
    }
    return kind === "tool" && outcome.type === "value" ? [this.#toolResult(entry, outcome.value as unknown as ToolResult)] : [];
  }

  #toolResult({ callPath, time }: { readonly callPath: CallPath; readonly time: number }, result: ToolResult): RunEventBody {
    const { tool, time: startedAt } = this.#begunAt(callPath, time);
    return { type: "tool-result", tool, result, milliseconds: time - startedAt };
  }

  #begunAt(callPath: CallPath, time: number): Begun {
    return this.#begun.get(callPath) ?? { tool: callPath.replace(/^.*\/\d+\./, ""), time };
  }
}

function startOf({ kind, detail, key }: FactOf<"intent">): readonly RunEventBody[] {
  if (kind === "model")
    return [{ type: "turn-start", turn: Number(detail["turn"] ?? key.split(/[ .]/)[1]), model: String(detail["model"]) }];
  if (kind !== "question" || !isRecord(detail["request"])) return [];
  return [{ type: "approval-request", request: detail["request"] as never }];
}

function resultOf({ result, error, output = null }: FactOf<"call-end">): ToolResult | undefined {
  if (result) return result as unknown as ToolResult;
  if (!error) return { ok: true, value: output };
  return isRecord(error["failure"]) ? { ok: false, error: error["failure"] as unknown as ToolError } : undefined;
}
