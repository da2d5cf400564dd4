import type { ApprovalDecision, ApprovalRequest, AttachmentPreview, DecisionSource } from "./approval.ts";
import type { CallKind, CallPath, StopReason } from "./call.ts";
import type { DroppedResult } from "./fact.ts";
import type { JsonValue } from "./json.ts";
import type { AnswerFinish, FilePart, Message, ToolResult } from "./message.ts";
import type { LimitName, Usage } from "./usage.ts";

/** Members of every event. `time` is milliseconds since the epoch. */
export interface EventEnvelope {
  readonly v: 1;
  readonly runId: string;
  readonly callPath: CallPath;
  readonly depth: number;
  readonly time: number;
  /** It happened in an earlier attempt of the run, which goes on: sums that count usage leave it out. Absent: it happens now. */
  readonly replayed?: true;
}

/** Everything that a call begins with. Omitted members mean "none"; code has neither instructions nor a prompt. */
export interface CallDetail {
  readonly input: JsonValue;
  readonly instructions?: string;
  readonly systemFragments?: readonly string[];
  readonly prompt?: string;
  /** The worker's own, then its caller's. */
  readonly fragments?: readonly string[];
  readonly attachments?: readonly AttachmentPreview[];
}

type MessagePart = Message["parts"][number];

/** A part of a message without what only its provider understands; a file without its content. */
export type EventPart =
  | Omit<Extract<MessagePart, { type: "text" | "reasoning" }>, "providerData">
  | Omit<Extract<MessagePart, { type: "tool-call" | "server-call" }>, "providerData">
  | Omit<Extract<MessagePart, { type: "server-result" }>, "providerData">
  | Extract<MessagePart, { type: "tool-result" | "source" }>
  | Omit<FilePart, "data">;

/** Plain, serialisable data. Attachments appear by name, type and size, never with their content. */
export type RunEventBody =
  | { readonly type: "run-start"; readonly program: string; readonly entry: string; readonly mode: string }
  | {
      readonly type: "run-end";
      readonly stopReason: StopReason;
      /** For `limit` and `cut`: the limit, or what cut the answer off and what to raise. */
      readonly reason?: string;
      readonly usage: Usage;
      readonly error?: string;
    }
  | {
      readonly type: "call-start";
      readonly kind: CallKind;
      readonly name: string;
      readonly model?: string;
      readonly modelSource?: string;
      readonly attachments?: readonly string[];
      /** Only where the call is debugged: by its worker's `debug`, the manifest's, or the run's. */
      readonly detail?: CallDetail;
    }
  | {
      readonly type: "call-end";
      readonly kind: CallKind;
      readonly name: string;
      readonly stopReason: StopReason;
      readonly reason?: string;
      readonly usage: Usage;
      readonly milliseconds: number;
    }
  /** A worker that has code was answered: by that, or by its prompt, and why not by the code. */
  | { readonly type: "answered-by"; readonly by: "code" | "prompt"; readonly reason?: string }
  /** The prompt of the worker was asked what its code had answered. `agrees` is absent if nothing of the output can be compared. */
  | {
      readonly type: "checked";
      readonly worker: string;
      readonly agrees?: boolean;
      /** Paths of the output's fields that differ. */
      readonly different?: readonly string[];
      /** Why the prompt did not answer. */
      readonly skipped?: string;
    }
  | { readonly type: "turn-start"; readonly turn: number; readonly model: string }
  | {
      readonly type: "turn-end";
      readonly turn: number;
      readonly usage: Usage;
      readonly text: string;
      readonly finish: AnswerFinish;
      /** The provider's own word for `finish`, where it is another. */
      readonly finishReason?: string;
    }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  /** The part of an answer so far that is to fit an output schema. Not validated. */
  | { readonly type: "partial-output"; readonly value: JsonValue }
  | {
      readonly type: "tool-call";
      readonly tool: string;
      readonly args: JsonValue;
      /** It was executed already, by the model's provider, and passed no gate. */
      readonly executedBy?: "provider";
    }
  | { readonly type: "approval-request"; readonly request: ApprovalRequest }
  | {
      readonly type: "approval-decision";
      readonly tool: string;
      readonly decision: ApprovalDecision;
      readonly source: DecisionSource;
      /** The run stops for it. */
      readonly stops?: true;
    }
  | {
      readonly type: "tool-result";
      readonly tool: string;
      readonly result: ToolResult;
      /** 0 for provider-executed tools (not measured). */
      readonly milliseconds: number;
      readonly executedBy?: "provider";
      /** Stack of the error that the tool threw, in a call that is debugged. */
      readonly stack?: string;
    }
  | { readonly type: "usage"; readonly usage: Usage }
  /** A message that was added to the conversation of a call. */
  | { readonly type: "message"; readonly role: Message["role"]; readonly parts: readonly EventPart[] }
  | { readonly type: "limit"; readonly limit: LimitName; readonly allowed: number; readonly message: string }
  | {
      readonly type: "compaction";
      /** In tokens, as `before` and `after`, which say how long the next request would have been, and is. */
      readonly window: number;
      readonly before: number;
      readonly after: number;
      readonly dropped: readonly DroppedResult[];
    }
  | {
      readonly type: "retry";
      /** The attempt that failed, from 1. */
      readonly attempt: number;
      /** Most attempts. */
      readonly maxAttempts: number;
      readonly delayMilliseconds: number;
      readonly reason: string;
      readonly afterOutput: boolean;
    }
  | { readonly type: "progress"; readonly message: string }
  | { readonly type: "warning"; readonly message: string };

export type RunEvent = EventEnvelope & RunEventBody;
export type RunEventType = RunEvent["type"];

/** Receives every event in order. Must not throw; what it throws is dropped. */
export type EventSink = (event: RunEvent) => void;
