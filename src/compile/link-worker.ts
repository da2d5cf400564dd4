import { diagnose } from "../diagnostics/diagnose.ts";
import type { AttachmentPolicySyntax, SchemaSyntax } from "../language/worker-file.ts";
import { type AttachmentPolicy, defaultAttachmentPolicy, type ModelChoice, type Worker } from "../program/program.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { fromJsonSchema, jsonSchemaProblem } from "../schema/from-json-schema.ts";
import type { Schema } from "../schema/schema.ts";
import { clipText } from "../util/clip-text.ts";
import type { Compilation } from "./compilation.ts";
import { linkLimits } from "./link-limits.ts";
import { linkScopes } from "./link-scopes.ts";
import { linkToolsets } from "./link-toolsets.ts";
import { renderPrompt } from "./render-prompt.ts";
import type { ResolvedWorker } from "./resolve-workers.ts";

/** What a worker takes whose author declares no input. */
const defaultInput: JsonSchema = {
  type: "object",
  properties: {
    input: { type: "string", description: "What the worker is asked to do." },
    attachments: { type: "array", items: { type: "string", "x-llm-do": "attachment" }, description: "Files to pass along." },
  },
  required: ["input"],
  additionalProperties: false,
};

export interface WorkerLinks {
  readonly compilation: Compilation;
  readonly modelOf: (worker: ResolvedWorker) => ModelChoice | undefined;
  readonly workerOf: (path: string) => Worker;
}

/** Makes the linked form of one resolved worker: defaults filled in, schemas compiled, toolsets configured; frozen. */
export async function linkWorker(resolved: ResolvedWorker, { compilation, modelOf, workerOf }: WorkerLinks): Promise<Worker> {
  const { file, name, id } = resolved;
  const scopes = await linkScopes(compilation, file);
  const readable = scopes.map((scope) => scope.name);
  const writable = scopes.filter(({ mode }) => mode === "rw").map((scope) => scope.name);
  const toolsets = await linkToolsets(resolved.references, {
    compilation,
    scope: { worker: name, readable, writable },
    workerOf,
  });
  const { compatible_models: compatible } = file;
  const input = (await linkSchema(compilation, file.input)) ?? fromJsonSchema(defaultInput);
  return Object.freeze({
    id,
    name,
    description: file.description?.value ?? firstSentence(file.instructions.value),
    model: modelOf(resolved),
    compatibleModels: compatible?.value.map(({ value }) => value),
    input,
    output: await linkSchema(compilation, file.output),
    render: (values: JsonObject) => renderPrompt(file.instructions.value, values),
    toolsets,
    scopes,
    attachmentPolicy: linkAttachmentPolicy(file.attachment_policy?.value),
    limits: linkLimits(file.limits?.value),
  });
}

async function linkSchema(
  { diagnostics }: Compilation,
  syntax: { readonly value: SchemaSyntax; readonly span: import("../diagnostics/source.ts").Span } | undefined,
): Promise<Schema | undefined> {
  if (!syntax) return undefined;
  if (syntax.value.kind === "reference") {
    const message = `\`${clipText(syntax.value.reference.value, 80)}\`: a schema in code cannot be referred to yet`;
    const notes = [{ message: "write the fields here, as `name: type, description`" }];
    diagnostics.report(diagnose("schema-reference-unsupported", { message, span: syntax.value.reference.span, notes }));
    return undefined;
  }
  const problem = await jsonSchemaProblem(syntax.value.jsonSchema);
  if (problem === undefined) return fromJsonSchema(syntax.value.jsonSchema);
  diagnostics.report(diagnose("schema-invalid", { message: `this schema cannot be used: ${problem}`, span: syntax.span }));
  return undefined;
}

function linkAttachmentPolicy(syntax: AttachmentPolicySyntax | undefined): AttachmentPolicy {
  if (!syntax) return defaultAttachmentPolicy;
  return {
    maxAttachments: syntax.max_attachments?.value ?? defaultAttachmentPolicy.maxAttachments,
    maxTotalBytes: syntax.max_total_bytes?.value ?? defaultAttachmentPolicy.maxTotalBytes,
    allowedSuffixes: syntax.allowed_suffixes?.value ?? [],
    deniedSuffixes: syntax.denied_suffixes?.value ?? [],
    mediaTypes: syntax.media_types?.value ?? [],
  };
}

/** What a caller is told of a worker whose author describes it nowhere. */
function firstSentence(instructions: string): string {
  const [sentence = ""] = instructions.trim().split(/(?<=[.!?])\s|\n\s*\n/, 1);
  return clipText(sentence.replace(/\s+/g, " "), 200);
}
