import type { JsonValue } from "../../protocol/json.ts";
import type { FilePart, ToolResultPart } from "../../protocol/message.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ModelCall, ModelErrorCode, ModelRequest, ModelResponse } from "../model.ts";

/**
 * A model that is played by code: it sees the request and answers. Answering nothing means that the request was not
 * expected, and fails the run loudly. It is called once for each attempt of each turn.
 */
export type Script = (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** A string is its text; nothing means that the request was not expected. */
export type ScriptedAnswer = ScriptedReply | string | undefined;

/** The whole request, whose turn it is, and shorthands for what scripts look at. */
export interface ScriptedRequest extends ModelRequest, ModelCall {
  readonly signal: AbortSignal;
  /** The text of the last user message; `(no input)` where the instructions print the whole input. */
  lastUserText(): string;
  /** The instructions, with the inputs that they print, and the texts of all user messages. */
  promptText(): string;
  /** The results that came since the model's last answer, in the order of the calls. */
  toolResults(): readonly ToolResultPart[];
  /** All files of the conversation, with their content. */
  files(): readonly ScriptedFile[];
  hasTool(name: string): boolean;
  /** Returns whether the provider may use a type of `server_side_tools`. */
  hasServerTool(type: string): boolean;
  /** Throws a `ModelError` of code `unexpected_request` that shows what came. */
  unexpected(expected: string): never;
}

/** A file of a user message with its content decoded. */
export interface ScriptedFile extends Pick<FilePart, "name" | "mediaType" | "sha256"> {
  readonly bytes: Uint8Array;
}

export interface ScriptedReply {
  readonly text?: string;
  /** The text as a value, for workers with an output: in place of `text`. */
  readonly json?: JsonValue;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Calls that the provider has executed itself, before it wrote `text`. */
  readonly serverCalls?: readonly ScriptedServerCall[];
  /** Files that the provider has made. */
  readonly files?: readonly ScriptedMadeFile[];
  /** Default: one request, and 0 for everything else. */
  readonly usage?: Partial<Omit<Usage, "usd">>;
  readonly finish?: ModelResponse["finish"];
  /** Fails the request. A `text` is streamed first, as from a connection that breaks. */
  readonly error?: ScriptedError;
}

export interface ScriptedCall {
  readonly tool: string;
  /** Default: `{}`. */
  readonly args?: JsonValue;
  /** Argument text that is not valid JSON, in place of `args`. */
  readonly invalidArgs?: string;
  /** A call of a tool that is not offered is a mistake in the script, unless this is set. */
  readonly allowUnknownTool?: boolean;
}

export interface ScriptedServerCall {
  /** A type of `server_side_tools`; one that is not enabled is a mistake in the script. */
  readonly tool: string;
  /** Default: `{}`. */
  readonly args?: JsonValue;
  readonly result?: JsonValue;
  /** Fails the call, in place of `result`. */
  readonly error?: string;
}

/** Its content is `text` or `base64`. */
export interface ScriptedMadeFile {
  readonly name: string;
  readonly mediaType?: string;
  readonly text?: string;
  readonly base64?: string;
}

export interface ScriptedError {
  readonly code: ModelErrorCode;
  readonly message?: string;
  readonly status?: number;
  /** Follows the code where it is not given. */
  readonly retryable?: boolean;
  readonly retryAfterMilliseconds?: number;
}

/** Gives a script its types: `export default defineScript((request) => …)`. */
export function defineScript(script: Script): Script {
  return script;
}
