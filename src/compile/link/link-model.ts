import { isAbsolute, resolve } from "node:path";
import type { Span } from "../../diagnostics/source.ts";
import { type ModelId, parseModelId } from "../../models/model-id.ts";
import { isCompatibleModel } from "../../models/providers/compatible-models.ts";
import { selectModel } from "../../models/select-model.ts";
import type { ModelChoice } from "../../program/program.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { Compilation } from "../compilation.ts";
import { createFlagSource, isFlag, isOption, startOf, wholeOf } from "../flag.ts";
import type { LoadedWorker } from "../load-worker.ts";
import { checkModel } from "./check-model.ts";
import type { KnownProvider } from "./link-providers.ts";

export interface ModelOptions {
  /** Names of all providers, those of the manifest included. */
  readonly names: readonly string[];
  readonly providers: readonly KnownProvider[];
  /** `--model`, or the library's `model`. */
  readonly model: string | undefined;
}

/** A model as written, with its source in words for people, and its span. */
interface Written {
  readonly text: string;
  readonly source: string;
  readonly span: Span;
}

/** The model that a worker runs on, and its source; undefined, with a diagnostic, if it is missing or not allowed. */
export async function linkModel(
  compilation: Compilation,
  worker: LoadedWorker,
  options: ModelOptions,
): Promise<ModelChoice | undefined> {
  const { diagnostics, files } = compilation;
  const written = findModel(compilation, worker, options.model);
  if (!written) {
    reportMissing(compilation, worker);
    return undefined;
  }
  const { source, span } = written;
  const parsed = parseModelId(findAlias(compilation, written.text)?.value.value ?? written.text, options.names);
  const alias = findAlias(compilation, written.text);
  if (!parsed.ok && alias) {
    const message = `the alias \`${alias.name.value}\` stands for \`${clipText(alias.value.value, 60)}\`, which is no model`;
    const note = `an alias names a model, as \`provider:name\`: llm-do models alias ${alias.name.value} PROVIDER:NAME`;
    return diagnostics.report("model-id", { message, span: alias.value.span, note });
  }
  if (!parsed.ok) {
    return diagnostics.report("model-id", { message: parsed.error.message, span });
  }
  if (!checkCompatible(compilation, worker, { id: parsed.value.id, written })) return undefined;
  const id = absoluteScript(parsed.value, files.folderOf(span));
  await checkModel(compilation, { id, span }, options.providers);
  const recorded = id.id.replace(`scripted:${compilation.root}/`, "scripted:");
  return { id: id.id, recorded, source, namedBy: isFlag(span) ? "user" : "program" };
}

/** `--set` of the worker, then `--model-for`, then what the worker itself says, then the defaults. */
function findModel(compilation: Compilation, worker: LoadedWorker, model: string | undefined): Written | undefined {
  const { overrides, manifest, host, config } = compilation;
  const own = worker.file.model;
  if (own && isOption(own.span)) return { text: own.value, source: own.span.source.name, span: own.span };
  const forced = overrides.modelFor(worker);
  if (forced) return { text: forced.model.value, source: forced.flag, span: forced.model.span };
  const environment = host.environment["LLM_DO_MODEL"];
  const shared = manifest?.model;
  const ofProgram = compilation.modelOfProgram;
  const selected = selectModel({
    worker: own?.value,
    run: model?.trim() ? model : ofProgram?.value,
    manifest: shared?.value,
    environment,
    user: config.model?.value,
  });
  if (!selected) return undefined;
  const { id: text, source } = selected;
  const inFile = source === "worker" ? own : source === "manifest" ? shared : undefined;
  if (inFile) return { text, source: `\`model\` of ${inFile.span.source.name}`, span: inFile.span };
  if (source === "user")
    return { text, source: "your default model", span: wholeOf(createFlagSource("your default model", text)) };
  if (source === "--model" && ofProgram && !model?.trim()) return { text, source, span: ofProgram.span };
  return { text, source, span: wholeOf(createFlagSource(source, text)) };
}

/** An alias of the user's configuration stands for its model. One alias stands for no other. */
function findAlias({ config }: Compilation, text: string) {
  const name = text.trim();
  return config.aliases?.value.find((alias) => alias.name.value === name);
}

/** A mistake if it is to be run, else only worth a hint. */
function reportMissing({ diagnostics, toRun }: Compilation, { name, file }: LoadedWorker): void {
  const message = `no model for the worker \`${name}\``;
  const note =
    "set one of: `model` in the worker, `--model` (in code: the option `model`), `model` in llm-do.yaml, `LLM_DO_MODEL`, or run `llm-do models default`";
  const span = file.name?.span ?? startOf(file.source);
  diagnostics.report(toRun ? "model-missing" : "model-unset", { message, note, span });
}

function checkCompatible(
  { diagnostics }: Compilation,
  { name, file }: LoadedWorker,
  { id, written }: { readonly id: string; readonly written: Written },
): boolean {
  const globs = file.compatible_models;
  const patterns = globs?.value.map(({ value }) => value) ?? [];
  if (!globs || isCompatibleModel(id, patterns)) return true;
  const shown = patterns.map((pattern) => `\`${pattern}\``).join(", ");
  const message = `the model \`${id}\` (${written.source}) is not one that \`${name}\` runs on: ${shown}`;
  const notes = [{ message: "the patterns are here", span: globs.span }];
  diagnostics.report("model-incompatible", { message, span: written.span, notes });
  return false;
}

/** A script is relative to the file that names it, or to where the user stands. */
function absoluteScript(id: ModelId, folder: string): ModelId {
  if (id.provider !== "scripted" || isAbsolute(id.name)) return id;
  const name = resolve(folder, id.name);
  return { ...id, id: `scripted:${name}`, name };
}
