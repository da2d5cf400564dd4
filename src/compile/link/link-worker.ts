import type { Span } from "../../diagnostics/source.ts";
import { valuesOf } from "../../language/shapes/values-of.ts";
import type { AttachmentPolicySyntax, ContextSyntax, ModelSettingsSyntax } from "../../language/worker-file.ts";
import type { ModelSettings } from "../../models/model.ts";
import {
  type CodeCheck,
  type ContextBounds,
  defaultAttachmentPolicy,
  defaultMaxResult,
  type ModelChoice,
  type Worker,
} from "../../program/program.ts";
import type { AttachmentPolicy } from "../../protocol/attachment-policy.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import type { WorkerMaker, WorkerSource } from "../../toolsets/workers/worker-toolset.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { Compilation } from "../compilation.ts";
import type { ResolvedWorker } from "../resolve/resolve-workers.ts";
import { checkProviderOptions } from "./check-provider-options.ts";
import { linkCode } from "./link-code.ts";
import { linkPrompt } from "./link-prompt.ts";
import type { KnownProvider } from "./link-providers.ts";
import { linkInputSchema, linkSchema } from "./link-schema.ts";
import { linkScopes } from "./link-scopes.ts";
import { linkServerTools } from "./link-server-tools.ts";
import { withSkillsScopes } from "./link-skills.ts";
import { linkToolsets } from "./link-toolsets.ts";

/** The default input of a worker. */
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
  readonly providers: readonly KnownProvider[];
  readonly modelOf: (worker: ResolvedWorker) => Promise<ModelChoice | undefined>;
  /** The worker that a file was linked to; to be called when all are linked. */
  readonly workerOf: (path: string) => Worker;
  /** Those that are linked. */
  readonly workers: () => Iterable<Worker>;
  readonly abilitiesBeyond: WorkerSource["abilitiesBeyond"];
  /** Makes workers for a worker that is linked. */
  readonly makerOf: (worker: ResolvedWorker) => WorkerMaker;
}

/** Makes the linked form of one resolved worker: defaults filled in, schemas compiled, toolsets configured; frozen. */
export async function linkWorker(resolved: ResolvedWorker, links: WorkerLinks): Promise<Worker> {
  const { compilation, providers, modelOf } = links;
  const { file, name, id, home } = resolved;
  const scopes = await withSkillsScopes(compilation, resolved.references, await linkScopes(compilation, file));
  const readable = scopes.map((scope) => scope.name);
  const writable = scopes.filter(({ mode }) => mode === "rw").map((scope) => scope.name);
  const pinned = scopes.flatMap((scope) => (scope.pinned ? [scope.name] : []));
  const suffixes = new Map(scopes.flatMap((scope) => (scope.suffixes ? [[scope.name, scope.suffixes] as const] : [])));
  const sandbox = (file.sandbox ?? compilation.manifest?.sandbox)?.value;
  const networkEnabled = sandbox?.network_enabled?.value === true;
  const isolationRequired = sandbox?.required?.value ?? false;
  const toolsets = await linkToolsets(resolved.references, {
    ...links,
    maker: links.makerOf(resolved),
    scope: { worker: name, readable, writable, pinned, suffixes, networkEnabled, isolationRequired },
    scopes,
    scopesUnread: scopes.length === 0 && sandbox?.paths !== undefined && !isEmptyMap(sandbox.paths.span),
  });
  const { compatible_models: compatible } = file;
  const input = (await linkInputSchema(compilation, file.input, home)) ?? { schema: fromJsonSchema(defaultInput), known: true };
  const output = await linkSchema(compilation, file.output, home);
  const code = await linkCode(compilation, file.code, home);
  const check = linkCheck(compilation, resolved);
  const model = await modelOf(resolved);
  checkInstructions(compilation, resolved);
  return Object.freeze({
    id,
    name,
    description: file.description?.value ?? firstSentence(file.instructions.value),
    model,
    compatibleModels: compatible?.value.map(({ value }) => value),
    modelSettings: await linkModelSettings(compilation, file.model_settings?.value, providers),
    input: input.schema,
    output: output?.schema,
    ...(code ? { code: Object.freeze({ ...code, hasPrompt: hasPrompt(resolved), ...(check ? { check } : {}) }) } : {}),
    ...(await linkPrompt(compilation, resolved, input)),
    toolsets,
    serverTools: linkServerTools(compilation, file, { model, providers }),
    scopes,
    commands: { networkEnabled, isolationRequired },
    attachmentPolicy: linkAttachmentPolicy(file.attachment_policy?.value),
    context: linkContext(compilation.manifest?.context?.value, file.context?.value),
    limits: valuesOf(file.limits?.value ?? {}),
    locked: file.locked?.value ?? false,
    auth: file.auth?.value ?? compilation.manifest?.auth?.value ?? "off",
    debug: file.debug?.value ?? false,
    ...(resolved.creators ? { creators: resolved.creators } : {}),
  });
}

/** `paths: {}` takes all scopes away; entries that could not be read do not. */
function isEmptyMap({ source, start, end }: Span): boolean {
  return /^\{\s*\}$/.test(source.text.slice(start, end));
}

function hasPrompt({ file }: ResolvedWorker): boolean {
  return file.instructions.value.trim() !== "" || file.prompt !== undefined || file.system_fragments !== undefined;
}

/** The dollars of a run's checks where a worker does not say. */
const defaultCheckUsd = 0.1;

/** A check compares the code with the prompt: a worker has to have both. */
function linkCheck({ diagnostics, checks }: Compilation, resolved: ResolvedWorker): CodeCheck | undefined {
  const { name, file } = resolved;
  if (!file.check) return undefined;
  const { share, usd } = file.check.value;
  if (file.code && hasPrompt(resolved)) return checks ? { share: share.value, usd: usd?.value ?? defaultCheckUsd } : undefined;
  const missing = file.code ? "instructions" : "`code`";
  const message = `\`check\` compares the code of \`${name}\` with its prompt, and it has no ${missing}`;
  return diagnostics.report("check-unused", { message, span: share.span, note: `add ${missing}, or delete \`check\`` });
}

function checkInstructions({ diagnostics }: Compilation, worker: ResolvedWorker): void {
  const { name, file } = worker;
  const { span } = file.instructions;
  if (hasPrompt(worker) || file.code) return;
  const start = span.source.text.lastIndexOf("---", Math.max(0, span.start - 1));
  const fence = { source: span.source, start: Math.max(0, start), end: Math.max(0, start) + 3 };
  const note = "write what it is to do below this line";
  diagnostics.report("instructions-missing", { message: `\`${name}\` has no instructions`, span: fence, note });
}

async function linkModelSettings(
  compilation: Compilation,
  { provider_options: options, ...settings }: ModelSettingsSyntax = {},
  known: readonly KnownProvider[],
): Promise<ModelSettings> {
  if (options) await checkProviderOptions(compilation, options, known);
  const waiting = valuesOf(compilation.manifest?.model_settings?.value ?? {});
  return { ...waiting, ...valuesOf(settings), ...(options ? { provider_options: options.value.options } : {}) };
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

/** The worker's own values go before the manifest's. */
function linkContext(manifest: ContextSyntax | undefined, own: ContextSyntax | undefined): ContextBounds {
  const { max_result: maxResult = defaultMaxResult, window } = { ...valuesOf(manifest ?? {}), ...valuesOf(own ?? {}) };
  return { maxResult, window };
}

/** The default description of a worker. */
export function firstSentence(instructions: string): string {
  const [sentence = ""] = instructions.trim().split(/(?<=[.!?])\s|\n\s*\n/, 1);
  return clipText(sentence.replace(/\s+/g, " "), 200);
}
