import type { Source, Span, Spanned } from "../diagnostics/source.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import type { codeShape } from "./shapes/code-shape.ts";
import type { RecordOf } from "./shapes/collection-shapes.ts";
import type { modelSettingsShape } from "./shapes/model-settings-shape.ts";
import type { sandboxShape } from "./shapes/sandbox-shape.ts";
import type { serverToolsShape } from "./shapes/server-tools-shape.ts";
import type { ShapeValue } from "./shapes/shape.ts";
import type { attachmentPolicyShape, contextShape, workerKeys } from "./worker-keys.ts";

/**
 * The syntax tree of a `.worker` file: what its author wrote, with the span of each value. A key that is absent or that
 * could not be read is absent here (and, in the second case, reported). Nothing is resolved yet.
 */
export type WorkerFile = RecordOf<typeof workerKeys> & {
  readonly source: Source;
  /** `version`, `license`, `metadata` and `x-*`: carried, not interpreted. */
  readonly extras: Readonly<Record<string, JsonValue>>;
  /** The text after the closing fence, as written. */
  readonly instructions: Spanned<string>;
};

export type CodeSyntax = ShapeValue<typeof codeShape>;
export type ModelSettingsSyntax = ShapeValue<typeof modelSettingsShape>;
export type AttachmentPolicySyntax = ShapeValue<typeof attachmentPolicyShape>;
export type ContextSyntax = ShapeValue<typeof contextShape>;
export type SandboxSyntax = ShapeValue<typeof sandboxShape>;
export type ScopeSyntax = NonNullable<SandboxSyntax["paths"]>["value"][number];
export type ServerToolSyntax = ShapeValue<typeof serverToolsShape>[number];

export type SchemaSyntax = DataSchemaSyntax | SchemaReferenceSyntax;

/** A schema that is data: already JSON Schema 2020-12, whichever notation it was written in. */
export interface DataSchemaSyntax {
  readonly kind: "data";
  readonly jsonSchema: JsonSchema;
  /** Names of the top-level fields. */
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

export interface ProviderOptionsSyntax {
  readonly options: JsonObject;
  /** The span of each entry, by its path (`anthropic.thinking`). */
  readonly optionSpans: ReadonlyMap<string, Span>;
}

export interface ToolsetSyntax {
  /** The key as written: a built-in, a worker, an export of `tools.ts`, a module reference. */
  readonly reference: Spanned<string>;
  /** The map under it, without the keys that begin with `_`. */
  readonly config: Spanned<JsonObject>;
  /** The span of each key of the configuration, by its path (`rules.0.pattern`), for diagnostics of its own schema. */
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
