import { isAbsolute, resolve } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import type { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Span } from "../diagnostics/source.ts";
import { isCompatibleModel } from "../models/compatible-models.ts";
import { parseModelId } from "../models/model-id.ts";
import { selectModel } from "../models/select-model.ts";
import type { ModelChoice } from "../program/program.ts";
import type { ResolvedWorker } from "./resolve-workers.ts";

export interface ModelOptions {
  readonly diagnostics: DiagnosticList;
  readonly providers: readonly string[];
  /** `--model`, or the library's `model`. */
  readonly model: string | undefined;
  /** The value of `LLM_DO_MODEL`. */
  readonly environmentModel: string | undefined;
  /** Scripts named in a worker's file are relative to it, all others to this folder. */
  readonly workingDirectory: string;
  readonly programFolder: string;
  /** Whether a worker without a model is a mistake (it is to be run) or only worth a hint. */
  readonly required: boolean;
}

/** Which model a worker runs on, and why; undefined, with a diagnostic, where that is none or the wrong one. */
export function linkModel(worker: ResolvedWorker, options: ModelOptions): ModelChoice | undefined {
  const { diagnostics, model, environmentModel } = options;
  const own = worker.file.model;
  const selected = selectModel({ worker: own?.value, run: model, environment: environmentModel });
  if (!selected) {
    reportMissing(worker, options);
    return undefined;
  }
  const span = selected.source === "worker" ? own?.span : flagSpan(selected.source, selected.id);
  const parsed = parseModelId(selected.id, options.providers);
  if (!parsed.ok) {
    diagnostics.report(diagnose("model-id", { message: parsed.error.message, span }));
    return undefined;
  }
  checkCompatible(worker, { id: parsed.value.id, source: selected.source, span }, diagnostics);
  const folder = selected.source === "worker" ? options.programFolder : options.workingDirectory;
  return {
    id: absoluteScript(parsed.value, folder),
    source: selected.source === "worker" ? `\`model\` of ${worker.file.source.name}` : selected.source,
  };
}

function reportMissing({ name, file }: ResolvedWorker, { diagnostics, required }: ModelOptions): void {
  const message = `no model for the worker \`${name}\``;
  const notes = [{ message: "set one of: `model` in the worker, `--model`, `model` in the manifest, `LLM_DO_MODEL`" }];
  diagnostics.report(
    diagnose(required ? "model-missing" : "model-unset", { message, notes, span: file.name?.span ?? startOf(file.source) }),
  );
}

function checkCompatible(
  { name, file }: ResolvedWorker,
  { id, source, span }: { id: string; source: string; span: Span | undefined },
  diagnostics: DiagnosticList,
): void {
  const globs = file.compatible_models;
  if (
    !globs ||
    isCompatibleModel(
      id,
      globs.value.map(({ value }) => value),
    )
  )
    return;
  const patterns = globs.value.map(({ value }) => `\`${value}\``).join(", ");
  const message = `the model \`${id}\` (${source}) is not one that \`${name}\` runs on: ${patterns}`;
  diagnostics.report(
    diagnose("model-incompatible", {
      message,
      span: span ?? globs.span,
      notes: [{ message: "the patterns are here", span: globs.span }],
    }),
  );
}

function absoluteScript({ id, provider, name }: { id: string; provider: string; name: string }, folder: string): string {
  return provider === "scripted" && !isAbsolute(name) ? `scripted:${resolve(folder, name)}` : id;
}

function flagSpan(name: string, text: string): Span {
  return { source: { name, text }, start: 0, end: text.length };
}

function startOf(source: Span["source"]): Span {
  return { source, start: 0, end: Math.min(3, source.text.length) };
}
