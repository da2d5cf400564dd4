import type { JsonObject, JsonValue } from "./json.ts";

export type JsonSchema = JsonObject;

/** The definition of a tool that is sent to a model. */
export interface ToolDefinition {
  /** `[A-Za-z][A-Za-z0-9_-]{0,63}`: what every provider accepts. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema 2020-12 of the arguments; always `type: object`. */
  readonly inputSchema: JsonSchema;
}

/** Tools that a provider executes itself, by the names of `server_side_tools`. */
export type ServerToolType = "web_search" | "web_fetch" | "code_execution" | "image_generation";

/** A tool of the provider, with what bounds it. */
export interface ServerTool {
  readonly type: ServerToolType;
  /** Most uses in one call of its worker. */
  readonly max_uses?: number;
  /** Only these hosts. Never together with `blocked_domains`. */
  readonly allowed_domains?: readonly string[];
  readonly blocked_domains?: readonly string[];
}

/** A failure that is returned to the model: what went wrong, of which type, and what to try next. */
export interface ToolError {
  readonly error: string;
  readonly type: ToolErrorType;
  readonly hint?: string;
  /** Facts that a program can use: the limit in bytes, the readable scopes, the nearest names, … */
  readonly details?: { readonly [key: string]: JsonValue };
}

export type ToolErrorType =
  | "invalid_arguments"
  | "unknown_tool"
  | "denied"
  | "blocked"
  | "limit"
  /** A model's answer was cut off. */
  | "cut"
  /** A model made the same call again and again, with the same result. */
  | "loop"
  /** A model refused to answer, or its provider withheld the answer. */
  | "refused"
  /** A model's provider failed, after the retries. */
  | "provider"
  | "timeout"
  | "aborted"
  /** In events alone: the call waits for an answer, and is made when the run goes on. */
  | "suspended"
  | "output_invalid"
  | "tool_failed"
  /** A toolset of the worker cannot be connected. */
  | "unavailable"
  | ScopeErrorType
  | AttachmentErrorType;

/** Section 7 of the design: each is refused with what is allowed instead, and never with a host path. */
export type ScopeErrorType =
  | "path_outside_scope"
  | "path_not_writable"
  | "path_protected"
  | "suffix_not_allowed"
  | "file_too_large"
  | "edit_no_match"
  | "edit_many_matches"
  | "not_a_file"
  | "not_a_directory"
  | "not_found"
  | "invalid_path"
  | "not_text"
  | "changed"
  | "io_error";

export type AttachmentErrorType = "too_many_attachments" | "attachments_too_large" | "media_type_not_allowed";
