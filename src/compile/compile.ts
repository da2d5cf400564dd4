import { basename, relative } from "node:path";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Host } from "../host/host.ts";
import type { Callable, Entry, Program, Worker } from "../program/program.ts";
import { isTool, type Toolset } from "../toolsets/toolset.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";
import { checkCalls } from "./checks/calls.ts";
import { checkDescriptions } from "./checks/descriptions.ts";
import { checkNames } from "./checks/names.ts";
import type { Compilation } from "./compilation.ts";
import { linkEntry } from "./link-entry.ts";
import { linkModel } from "./link-model.ts";
import { linkWorker } from "./link-worker.ts";
import { type LocateOptions, locateProgram, type ProgramPlace, workerNames, workerPaths } from "./locate-program.ts";
import { findToolsFile, loadCode, type ProgramCode } from "./program-code.ts";
import { type ResolvedWorker, resolveWorkers } from "./resolve-workers.ts";

export interface CompileOptions extends LocateOptions {
  readonly host: Host;
  /** `--model`, or the library's `model`: the default of the whole run. */
  readonly model?: string;
  /** The toolsets that come with llm-do, by name. */
  readonly builtIns: ReadonlyMap<string, Toolset>;
  readonly providers: readonly string[];
  /** Whether the program's code may be imported. Without trust its exports are known by name alone. */
  readonly trusted: boolean;
  /** Whether the program is to be run now: a worker without a model is then an error. */
  readonly toRun: boolean;
}

export interface Compiled {
  /** Undefined where there are errors, or where its code could not be imported for lack of trust. */
  readonly program: Program | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The program's folder and the code in it that a run would import, where that folder is not trusted. */
  readonly untrusted?: { readonly root: string; readonly files: readonly string[] };
}

/** load → resolve → link → check → a frozen program. No pass calls a model; every mistake is reported. */
export async function compile(options: CompileOptions): Promise<Compiled> {
  const diagnostics = new DiagnosticList();
  const located = await locateProgram(options);
  if ("diagnostic" in located) return { program: undefined, diagnostics: [located.diagnostic] };
  const { place } = located;
  const compilation = createCompilation(options, place, diagnostics);
  const entryPaths = place.entry.kind === "worker" ? [place.entry.path] : await allWorkerPaths(compilation);
  const resolved = await resolveWorkers(compilation, entryPaths);
  const code = place.entry.kind === "code" || usesCode(resolved, compilation) ? await compilation.tools() : undefined;
  checkNames(resolved, diagnostics);
  checkDescriptions(resolved, diagnostics);
  const workers = await linkAll(resolved, compilation, options);
  const callables = collectCallables([...workers.values()], code);
  checkCalls(callables, code, diagnostics);
  const entry = await linkEntry(place, { compilation, workers, trusted: options.trusted });
  const files = options.trusted ? [] : codeFiles(resolved, workers, code);
  const compiled = {
    diagnostics: diagnostics.toArray(),
    ...(files.length > 0 ? { untrusted: { root: place.root, files } } : {}),
  };
  if (!entry || diagnostics.hasErrors || isUnverified(resolved)) return { ...compiled, program: undefined };
  return { ...compiled, program: await freezeProgram({ entry, place, resolved, workers, callables, code, compilation }) };
}

function createCompilation(
  { host, builtIns, trusted }: CompileOptions,
  place: ProgramPlace,
  diagnostics: DiagnosticList,
): Compilation {
  let code: Promise<ProgramCode | undefined> | undefined;
  const load = async () => {
    const path = place.entry.kind === "code" ? place.entry.path : await findToolsFile(host, place.root);
    return path === undefined ? undefined : loadCode(path, { host, trusted, report: diagnostics.report });
  };
  return {
    host,
    root: place.root,
    diagnostics,
    builtIns,
    tools: () => {
      code ??= load();
      return code;
    },
  };
}

/** Code that starts a run reaches all workers of its program. */
async function allWorkerPaths({ host, root }: Compilation): Promise<string[]> {
  const names = await workerNames(host, root);
  return (await Promise.all(names.map((name) => workerPaths(host, root, name)))).flat();
}

function usesCode(resolved: ReadonlyMap<string, ResolvedWorker>, { builtIns }: Compilation): boolean {
  return [...resolved.values()].some(({ references }) =>
    references.some(
      ({ target }) => target.kind === "unverified" || (target.kind === "toolset" && !builtIns.has(target.toolset.name)),
    ),
  );
}

function isUnverified(resolved: ReadonlyMap<string, ResolvedWorker>): boolean {
  return [...resolved.values()].some(({ references }) => references.some(({ target }) => target.kind === "unverified"));
}

/** The code that a run would import: the program's tools, and scripts that its workers name as their models. */
function codeFiles(
  resolved: ReadonlyMap<string, ResolvedWorker>,
  workers: ReadonlyMap<string, Worker>,
  code: ProgramCode | undefined,
): readonly string[] {
  const own = [...resolved.values()].flatMap(({ path, file }) => (file.model && workers.get(path)?.model?.id) ?? []);
  const scripts = own.flatMap((id) => /^scripted:(.+\.m?[jt]s)$/i.exec(id)?.[1] ?? []);
  return [...new Set([...(code ? [code.path] : []), ...scripts])];
}

async function linkAll(
  resolved: ReadonlyMap<string, ResolvedWorker>,
  compilation: Compilation,
  options: CompileOptions,
): Promise<Map<string, Worker>> {
  const { host, root, diagnostics } = compilation;
  const workers = new Map<string, Worker>();
  const models = {
    diagnostics,
    providers: options.providers,
    model: options.model,
    environmentModel: host.environment["LLM_DO_MODEL"],
    workingDirectory: host.workingDirectory,
    programFolder: root,
    required: options.toRun,
  };
  const workerOf = (path: string): Worker => {
    const worker = workers.get(path);
    if (!worker) throw new Error(`invariant: ${path} was not linked`);
    return worker;
  };
  for (const one of resolved.values()) {
    workers.set(one.path, await linkWorker(one, { compilation, modelOf: (worker) => linkModel(worker, models), workerOf }));
  }
  return workers;
}

function collectCallables(workers: readonly Worker[], code: ProgramCode | undefined): Map<string, Callable> {
  const callables = new Map<string, Callable>();
  for (const worker of workers) callables.set(worker.name, { kind: "worker", worker });
  for (const [name, value] of code?.exports ?? []) {
    if (isTool(value) && !callables.has(name)) callables.set(name, { kind: "tool", tool: value });
  }
  return callables;
}

interface ProgramParts {
  readonly entry: Entry;
  readonly place: ProgramPlace;
  readonly resolved: ReadonlyMap<string, ResolvedWorker>;
  readonly workers: ReadonlyMap<string, Worker>;
  readonly callables: ReadonlyMap<string, Callable>;
  readonly code: ProgramCode | undefined;
  readonly compilation: Compilation;
}

async function freezeProgram({ entry, place, resolved, workers, callables, code, compilation }: ProgramParts): Promise<Program> {
  const { host, root } = compilation;
  const codeDigest = code ? [[relative(root, code.path), sha256(await host.files.readBytes(code.path))]] : [];
  const sources = [...[...resolved.values()].map(({ id, digest }) => [id, digest]), ...codeDigest].sort();
  const models = [...workers.values()].map(({ id, model }) => [id, model?.id ?? null]).sort();
  return Object.freeze({
    name: basename(place.root),
    root: place.root,
    entry,
    workers: new Map([...workers.values()].map((worker) => [worker.id, worker])),
    callables,
    files: [...resolved.keys(), ...(code ? [code.path] : [])],
    digest: sha256(canonicalJson([sources, models])),
  });
}
