import type { Source, Span, Spanned } from "../diagnostics/source.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { JsonSchema, ServerToolType } from "../protocol/tool.ts";

/**
 * The syntax tree of a `.worker` file: what its author wrote, with the place of each value. A key that is absent or
 * that could not be read is absent here (and, in the second case, a diagnostic). Nothing is resolved yet.
 */
export interface WorkerFile {
  readonly source: Source;
  readonly name?: Spanned<string>;
  readonly description?: Spanned<string>;
  readonly model?: Spanned<string>;
  readonly compatible_models?: Spanned<readonly Spanned<string>[]>;
  readonly model_settings?: Spanned<ModelSettingsSyntax>;
  readonly input?: Spanned<SchemaSyntax>;
  readonly output?: Spanned<SchemaSyntax>;
  /** A template: the first user message. */
  readonly prompt?: Spanned<string>;
  /** Paths of files whose content is sent beside the prompt, each as a part of its own. */
  readonly fragments?: Spanned<readonly Spanned<string>[]>;
  readonly system_fragments?: Spanned<readonly Spanned<string>[]>;
  readonly attachment_policy?: Spanned<AttachmentPolicySyntax>;
  readonly sandbox?: Spanned<SandboxSyntax>;
  readonly toolsets?: Spanned<readonly ToolsetSyntax[]>;
  readonly server_side_tools?: Spanned<readonly ServerToolSyntax[]>;
  readonly limits?: Spanned<LimitsSyntax>;
  /** A path of a worker file (`./base.worker`), or the name of a profile of the manifest. */
  readonly extends?: Spanned<string>;
  readonly locked?: Spanned<boolean>;
  readonly auth?: Spanned<"off" | "auto" | "required">;
  readonly debug?: Spanned<boolean>;
  /** `version`, `license`, `metadata` and `x-*`: carried, not interpreted. */
  readonly extras: Readonly<Record<string, JsonValue>>;
  /** The text after the closing fence, as written; its span says where it begins. */
  readonly instructions: Spanned<string>;
}

export type SchemaSyntax = DataSchemaSyntax | SchemaReferenceSyntax;

/** A schema that is data: already JSON Schema 2020-12, whichever notation it was written in. */
export interface DataSchemaSyntax {
  readonly kind: "data";
  readonly jsonSchema: JsonSchema;
  /** Names of the top-level fields, with their places. */
  readonly fields: readonly Spanned<string>[];
}

/** A schema that a module exports: `./schemas.ts:PitchInput` or `@acme/schemas:Pitch`. */
export interface SchemaReferenceSyntax {
  readonly kind: "reference";
  /** Both parts, as written. */
  readonly reference: Spanned<string>;
  readonly module: string;
  readonly exportName: string;
}

export interface ModelSettingsSyntax {
  readonly temperature?: Spanned<number>;
  readonly max_output_tokens?: Spanned<number>;
  readonly top_p?: Spanned<number>;
  readonly seed?: Spanned<number>;
  readonly reasoning?: Spanned<"none" | "minimal" | "low" | "medium" | "high">;
  /** A map from a provider to its own options. */
  readonly provider_options?: Spanned<ProviderOptionsSyntax>;
  readonly max_retries?: Spanned<number>;
  readonly max_retry_wait?: Spanned<number>;
  readonly timeout?: Spanned<number>;
}

export interface ProviderOptionsSyntax {
  readonly options: JsonObject;
  /** The place of each entry, by its path (`anthropic.thinking`). */
  readonly optionSpans: ReadonlyMap<string, Span>;
}

export interface AttachmentPolicySyntax {
  readonly max_attachments?: Spanned<number>;
  readonly max_total_bytes?: Spanned<number>;
  readonly allowed_suffixes?: Spanned<readonly string[]>;
  readonly denied_suffixes?: Spanned<readonly string[]>;
  readonly media_types?: Spanned<readonly string[]>;
}

export interface SandboxSyntax {
  /** Absent: the default scope. An empty list: no scope at all. */
  readonly paths?: Spanned<readonly ScopeSyntax[]>;
  /** Whether shell commands reach the network, or the hosts that they reach. */
  readonly network_enabled?: Spanned<boolean | readonly string[]>;
  /** Whether a run fails where no kernel sandbox is available. */
  readonly required?: Spanned<boolean>;
}

export interface ScopeSyntax {
  readonly name: Spanned<string>;
  readonly root: Spanned<string>;
  readonly mode?: Spanned<"ro" | "rw">;
  readonly suffixes?: Spanned<readonly string[]>;
  readonly max_file_bytes?: Spanned<number>;
  readonly write_approval?: Spanned<boolean>;
  readonly read_approval?: Spanned<boolean>;
}

export interface ToolsetSyntax {
  /** The key as written: a built-in, a worker, an export of `tools.ts`, a module reference. */
  readonly reference: Spanned<string>;
  /** The map under it, without the keys that begin with `_`. */
  readonly config: Spanned<JsonObject>;
  /** Where each key of the configuration stands, by its path (`rules.0.pattern`), for diagnostics of its own schema. */
  readonly configSpans: ReadonlyMap<string, Span>;
  readonly approvals?: Spanned<readonly ApprovalSyntax[]>;
  readonly prefix?: Spanned<string>;
  readonly use?: Spanned<string>;
}

/** One entry of `_approval_config`. */
export interface ApprovalSyntax {
  /** An unprefixed tool name, or `*`. */
  readonly tool: Spanned<string>;
  readonly preApproved: Spanned<boolean>;
}

/** One entry of `server_side_tools`. */
export interface ServerToolSyntax {
  readonly tool_type: Spanned<ServerToolType>;
  readonly max_uses?: Spanned<number>;
  readonly allowed_domains?: Spanned<readonly string[]>;
  readonly blocked_domains?: Spanned<readonly string[]>;
}

export interface LimitsSyntax {
  readonly depth?: Spanned<number>;
  readonly turns?: Spanned<number>;
  readonly tool_calls?: Spanned<number>;
  readonly tokens?: Spanned<number>;
  readonly usd?: Spanned<number>;
  readonly seconds?: Spanned<number>;
  readonly parallel?: Spanned<number>;
}
