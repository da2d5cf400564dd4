import type { Spanned } from "../diagnostics/source.ts";
import type { ProfileSyntax } from "../language/manifest.ts";
import { parseWorkerFile } from "../language/parse-worker-file.ts";
import type { SandboxSyntax, WorkerFile } from "../language/worker-file.ts";
import { clipText } from "../util/text/clip-text.ts";
import { didYouMean } from "../util/text/did-you-mean.ts";
import type { Compilation } from "./compilation.ts";
import { isGenerated } from "./generated-workers.ts";
import type { Home } from "./home.ts";
import type { LoadedWorker } from "./load-worker.ts";

/** A worker's file with the settings of what it extends under its own. Every value keeps the place that it was written in. */
export async function extendWorker(
  compilation: Compilation,
  { path, home, file }: Pick<LoadedWorker, "path" | "home" | "file">,
): Promise<WorkerFile> {
  const { settings } = await inherit(compilation, { settings: file, seen: [path], home });
  return {
    ...settings,
    source: file.source,
    extras: file.extras,
    instructions: file.instructions,
    ...(file.name && { name: file.name }),
  };
}

interface Step {
  readonly settings: ProfileSyntax;
  /** Paths and profiles that led here. */
  readonly seen: readonly string[];
  readonly home: Home;
}

async function inherit(compilation: Compilation, step: Step): Promise<Step> {
  const base = step.settings.extends && (await findBase(compilation, step.settings.extends, step));
  if (!base) return step;
  const { settings } = await inherit(compilation, base);
  return { ...step, settings: mergeSettings(settings, step.settings) };
}

async function findBase(compilation: Compilation, reference: Spanned<string>, { seen, home }: Step): Promise<Step | undefined> {
  const isPath = reference.value.includes("/") || reference.value.endsWith(".worker");
  const found = isPath ? await findFile(compilation, reference, home) : findProfile(compilation, reference, home);
  if (!found) return undefined;
  if (seen.includes(found.key)) {
    const message = `\`extends: ${clipText(reference.value, 60)}\` leads back to where it came from`;
    return compilation.diagnostics.report("extends-cycle", { message, span: reference.span });
  }
  return { settings: found.settings, seen: [...seen, found.key], home };
}

interface Base {
  readonly key: string;
  readonly settings: ProfileSyntax;
}

async function findFile(compilation: Compilation, reference: Spanned<string>, home: Home): Promise<Base | undefined> {
  const { host, files, diagnostics, generated } = compilation;
  const path = await files.resolve(reference, home);
  if (path !== undefined && (await isGenerated(host, generated, path))) {
    const message = `\`${clipText(reference.value, 60)}\` was made in a run: its settings are not an author's`;
    return diagnostics.report("generated-refused", { message, span: reference.span });
  }
  const source = path === undefined ? undefined : await files.read(path, { home, from: reference.span });
  if (path === undefined || !source) return undefined;
  const { file, diagnostics: found } = parseWorkerFile(source);
  diagnostics.addAll(found);
  if (!file) return undefined;
  const { source: _source, instructions: _body, extras: _extras, name: _name, locked: _locked, ...settings } = file;
  return { key: path, settings };
}

function findProfile(
  { manifest, diagnostics, used }: Compilation,
  { value, span }: Spanned<string>,
  home: Home,
): Base | undefined {
  const profiles = home.package === undefined ? (manifest?.profiles?.value ?? []) : [];
  const profile = profiles.find(({ name }) => name.value === value);
  if (profile) used.add(profile.name);
  if (profile) return { key: `profile ${value}`, settings: profile.value.value };
  const names = profiles.map(({ name }) => name.value);
  const form = `a profile is written under \`profiles\` of \`llm-do.yaml\`; a file is \`./${value}.worker\``;
  const note = didYouMean(value, names) ?? form;
  return diagnostics.report("extends-unknown", { message: `there is no profile \`${clipText(value, 60)}\``, span, note });
}

/**
 * The settings of `own` over those of `base`: `sandbox.paths` and `toolsets` are united by name, an entry of the same name
 * replaces the whole of the other; every other key replaces.
 */
function mergeSettings(base: ProfileSyntax, own: ProfileSyntax): ProfileSyntax {
  const sandbox = mergeSandbox(base.sandbox, own.sandbox);
  const toolsets = unite(base.toolsets, own.toolsets, ({ reference }) => reference.value);
  return { ...base, ...own, ...(sandbox && { sandbox }), ...(toolsets && { toolsets }) };
}

function mergeSandbox(base: Spanned<SandboxSyntax> | undefined, own: Spanned<SandboxSyntax> | undefined) {
  if (!base || !own) return own ?? base;
  // `paths: {}` declares that there is no scope.
  const isNone = own.value.paths?.value.length === 0;
  const paths = isNone ? own.value.paths : unite(base.value.paths, own.value.paths, ({ name }) => name.value);
  return { value: { ...base.value, ...own.value, ...(paths && { paths }) }, span: own.span };
}

type Listed<T> = Spanned<readonly T[]> | undefined;

/** The entries of both; one of `own` replaces the whole of one of the same name. */
function unite<T>(base: Listed<T>, own: Listed<T>, nameOf: (entry: T) => string): Listed<T> {
  if (!base || !own) return own ?? base;
  const names = new Set(own.value.map(nameOf));
  return { value: [...base.value.filter((entry) => !names.has(nameOf(entry))), ...own.value], span: own.span };
}
