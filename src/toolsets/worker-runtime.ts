import type { Scopes } from "../host/scopes/scopes.ts";
import type { CallPath } from "../protocol/call.ts";
import type { AsJson } from "../protocol/json.ts";
import type { FilePart, ToolResult } from "../protocol/message.ts";
import type { TraceContext } from "../protocol/trace-context.ts";
import type { CallableName, InputOf, OutputOf } from "./callables.ts";

/** All that a tool sees of the run: not the registry, not the approver, not the configuration. */
export interface WorkerRuntime {
  /**
   * Calls a worker or tool by name, through the gate, as a child of this call. Resolves with its value, rejects with a
   * `ToolFailure` that says why not. Only names in the tool's `calls` are reachable (a code entry: all of its program).
   */
  call<Name extends CallableName>(name: Name, input?: InputOf<Name>, options?: CallOptions): Promise<OutputOf<Name>>;
  /**
   * Calls a worker or tool once for each input, as `call` does. Resolves with the results in the order of the inputs; a failed call is
   * `{ ok: false, error }` and ends no other. Rejects with what ends the caller itself (an abort, a limit), and for wrong options.
   */
  map<Name extends CallableName>(
    name: Name,
    inputs: readonly InputOf<Name>[],
    options?: MapOptions,
  ): Promise<readonly ToolResult[]>;
  /**
   * Opened at the start of the caller that is code or has tools for files or commands; else at the first use of a file, which makes the
   * missing folders of writable scopes and rejects with a `ScopeError` if a folder is refused. Closed by the run.
   */
  readonly scopes: Scopes;
  readonly attachments: readonly AttachmentHandle[];
  readonly worker: { readonly name: string; readonly description: string };
  /** `provider:name`; undefined in a code entry, which has no model. */
  readonly model: string | undefined;
  readonly signal: AbortSignal;
  readonly callPath: CallPath;
  readonly depth: number;
  /**
   * Does something once, also where the run is killed and goes on: a recorded result is not computed again. The result has to be JSON;
   * `name` is unique in the call. Where the run was killed while the function was under way it may be called again.
   */
  step<T>(name: string, fn: () => (T & AsJson<T>) | Promise<T & AsJson<T>>): Promise<T>;
  /** The time in milliseconds since the epoch, and the same in a run that goes on. */
  now(): Promise<number>;
  /** Tells whoever listens; never fails. */
  progress(message: string): void;
  /** The span of this call, for requests to other processes. Undefined without telemetry. */
  traceContext(): TraceContext | undefined;
}

export interface CallOptions {
  /**
   * For a worker, not for a tool: texts beside the input, each a part of its own after the worker's own fragments. Whoever is
   * asked for the call sees them as the argument `extra_context`.
   */
  readonly extraContext?: readonly string[];
  /**
   * Tells this call apart from others of the same code that have the same name and input: a replay finds each by these, and equal
   * ones by their order. Needed only where equal calls may swap their order.
   */
  readonly key?: string;
}

/** `key` tells this map apart from others of the same code; each call has it with the index of its input. Default: `map`. */
export interface MapOptions extends CallOptions {
  /** The most calls that are under way at once. Default: all of them; `limits.parallel` of the run bounds what executes. */
  readonly concurrency?: number;
}

export interface AttachmentHandle {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly sha256: string;
  read(): Promise<Uint8Array>;
  toFilePart(): FilePart;
}
