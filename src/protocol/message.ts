import type { CallPath } from "./call.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ToolError } from "./tool.ts";

/**
 * The conversation of one call. Messages are immutable once made: adapters convert each of them once and keep the
 * result, so a message must never be changed in place.
 */
export type Message = UserMessage | AssistantMessage | ToolMessage;

export interface UserMessage {
  readonly role: "user";
  readonly parts: readonly (TextPart | FilePart)[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly parts: readonly (
    | TextPart
    | ReasoningPart
    | ToolCallPart
    | ServerCallPart
    | ServerResultPart
    | SourcePart
    | FilePart
  )[];
  /** Data of the whole answer that the provider needs back unchanged (the id of a container). */
  readonly providerData?: JsonObject;
}

/**
 * How a model's answer ended. `length`: it reached a bound on its length, ours or the model's. `context-window`: the model
 * takes no more. `content-filter`: the model refused, or a filter of the provider withheld the answer. `paused`: the provider
 * wants the answer back as it is, to continue it.
 */
export type AnswerFinish = "stop" | "tool-calls" | "length" | "context-window" | "content-filter" | "paused" | "other";

/** Answers every tool call of the assistant message before it, in the order of the calls. */
export interface ToolMessage {
  readonly role: "tool";
  readonly parts: readonly ToolResultPart[];
}

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  /** On an answer's text: what the provider needs back unchanged on the next turn. Opaque to everybody else. */
  readonly providerData?: JsonObject;
}

export interface FilePart {
  readonly type: "file";
  /** The name shown to the model: a virtual path or a base name, never a host path. */
  readonly name: string;
  /** IANA media type, found by content. */
  readonly mediaType: string;
  readonly bytes: number;
  /** Lower-case hex SHA-256 of the content. */
  readonly sha256: string;
  /** The content in base64: encoded once, sent on every turn. */
  readonly data: string;
}

/** A file that a provider made in a run. `name` holds no path and is unique in the run. */
export interface Artifact extends FilePart {
  readonly callPath: CallPath;
  /** Absolute; absent if no record of the run is kept. */
  readonly path?: string;
}

export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  /** Data that the provider needs back unchanged on the next turn (signatures, ids). Opaque to everything else. */
  readonly providerData?: JsonObject;
}

export interface ToolCallPart {
  readonly type: "tool-call";
  /** The provider's id of the call; unique within one assistant message. */
  readonly id: string;
  readonly name: string;
  readonly args: JsonValue;
  /**
   * The argument text as the model wrote it, present only if it is not valid JSON or holds a key twice; `args` is then null.
   */
  readonly invalidArgs?: string;
  readonly providerData?: JsonObject;
}

/** A call that the provider has executed itself. Nothing is left to be done for it. */
export interface ServerCallPart {
  readonly type: "server-call";
  readonly id: string;
  /** A type of `server_side_tools`, or a tool that the provider uses for one. */
  readonly name: string;
  readonly args: JsonValue;
  readonly providerData?: JsonObject;
}

/** The result of a `server-call`, in the provider's own form. It can come in a later answer than its call. */
export interface ServerResultPart {
  readonly type: "server-result";
  readonly id: string;
  readonly name: string;
  readonly ok: boolean;
  readonly value: JsonValue;
  readonly providerData?: JsonObject;
}

/** A source that a server-side tool found. It is for readers; no provider needs it back. */
export interface SourcePart {
  readonly type: "source";
  readonly url?: string;
  readonly title?: string;
}

export interface ToolResultPart {
  readonly type: "tool-result";
  readonly id: string;
  readonly name: string;
  readonly result: ToolResult;
}

/**
 * The result of a call that is returned to the model. Exactly one per call, also on abort. `files` go to models that take them; `value`
 * names each, and is all that code, events and other models get.
 */
export type ToolResult =
  | { readonly ok: true; readonly value: JsonValue; readonly files?: readonly FilePart[] }
  | { readonly ok: false; readonly error: ToolError };

/** Returns a result without its files. */
export function withoutFiles(result: ToolResult): ToolResult {
  return result.ok && result.files ? { ok: true, value: result.value } : result;
}

/** The message of an answer that no model gave: its text, or its JSON. */
export function messageOfAnswer(output: JsonValue): AssistantMessage {
  return { role: "assistant", parts: [{ type: "text", text: typeof output === "string" ? output : JSON.stringify(output) }] };
}
