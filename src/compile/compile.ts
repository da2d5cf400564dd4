import { basename, join } from "node:path";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Host, ReadOptions } from "../host/host.ts";
import type { WorkerRecords } from "../host/own-files/worker-records.ts";
import type { Entry, Program, Worker } from "../program/program.ts";
import type { ApprovalRule } from "../protocol/approval.ts";
import type { ProgramOptions } from "../protocol/fact.ts";
import type { Outline } from "../protocol/outline.ts";
import type { Reach } from "../protocol/reach.ts";
import { builtInTools } from "../toolsets/tool-name.ts";
import { isTool, type Toolset } from "../toolsets/toolset.ts";
import type { WorkerMaker, WorkerSource } from "../toolsets/workers/worker-toolset.ts";
import { checkInstructions } from "./checks/instructions.ts";
import { checkManifestArgs } from "./checks/manifest-args.ts";
import { checkDescriptions, checkNames } from "./checks/names.ts";
import { argumentsOfTools, checkMentions, checkRules, type RuledProgram } from "./checks/rules.ts";
import { reportPlainAttachments, reportUnusedEntries, reportUnusedModel, reportUnusedScopes } from "./checks/unused.ts";
import type { Compilation } from "./compilation.ts";
import type { NeedOfTrust } from "./compile-error.ts";
import { type Creation, createMaker } from "./create/create-worker.ts";
import { withoutGrowth } from "./create/without-growth.ts";
import { type LocatedEntry, linkEntry, locateEntry } from "./entry.ts";
import { createOptionSource, isFlag, wholeOf } from "./flag.ts";
import { freezeProgram } from "./freeze-program.ts";
import { generatedFolder } from "./generated-workers.ts";
import { folderNames, type Home, homeOf, listedNames } from "./home.ts";
import { linkModel } from "./link/link-model.ts";
import { type KnownProvider, linkProviders, providerNames } from "./link/link-providers.ts";
import { linkMentions, linkRules, type Mention } from "./link/link-rules.ts";
import { linkScopes } from "./link/link-scopes.ts";
import { linkWorker, type WorkerLinks } from "./link/link-worker.ts";
import { checkUnusedServers } from "./link/name-servers.ts";
import { ScopeRoots } from "./link/scope-roots.ts";
import { loadManifest } from "./load-manifest.ts";
import { type LocatedProgram, locateTarget } from "./locate-target.ts";
import { findCode } from "./modules/find-code.ts";
import { Modules } from "./modules/modules.ts";
import { Packages } from "./modules/packages.ts";
import { addressesOf, needOfTrust } from "./need-of-trust.ts";
import { Overrides } from "./overrides.ts";
import { abilitiesBeyond as describeAbilitiesBeyond } from "./powers/beyond-caller.ts";
import type { Graph } from "./powers/ceiling.ts";
import { buildOutline, type OutlineParts } from "./powers/outline.ts";
import { reachOf } from "./powers/reach.ts";
import { ProgramFiles } from "./program-files.ts";
import { CallTable } from "./resolve/resolve-calls.ts";
import { type ResolvedWorker, resolveWorkers } from "./resolve/resolve-workers.ts";
import { loadUserConfig } from "./user-config.ts";

export interface CompileOptions {
  readonly host: Host;
  /** A folder, a `.worker` file, or a name that is looked for from the working directory upwards. Default: the working directory. */
  readonly target?: string | undefined;
  /** Absolute path of the folder that the program's is a copy of. */
  readonly copyOf?: string | undefined;
  /** In the place of a target: exactly these files, and what they refer to, make the program. */
  readonly files?: readonly string[] | undefined;
  /** `name` of a worker, or `tools.ts:main`. */
  readonly entry?: string | undefined;
  /** `--model`, or the library's `model`: the default of the whole run. */
  readonly model?: string | undefined;
  /** `--set`: `key=value` for the entry, `worker.key=value` for another worker. */
  readonly set?: readonly string[] | undefined;
  /** `--model-for`: `pattern=provider:name`, over what the matching workers name themselves. */
  readonly modelFor?: readonly string[] | undefined;
  /** Options that a record or a test file gives, below those above: they count as words of the program's files. */
  readonly ofProgram?: ProgramOptions | undefined;
  /** The limits of the user's configuration hold, too. */
  readonly userLimits: boolean;
  /** Rules of the run's policy, beside those of the manifest. */
  readonly rules?: readonly ApprovalRule[] | undefined;
  /** `--scope`: the name of a declared scope to the folder that it is in this run, relative to the working directory. */
  readonly scopes?: Readonly<Record<string, string>> | undefined;
  /** The toolsets that come with llm-do, by name. */
  readonly builtIns: ReadonlyMap<string, Toolset>;
  /** Capabilities of workers that were created in a run. */
  readonly records: WorkerRecords;
  readonly providers: readonly KnownProvider[];
  /** Files that the program has in place of those in its folder, by their paths there; null: one that it does not have. */
  readonly before?: ReadonlyMap<string, string | null>;
  /** Imports the program's code. Without trust its exports are known by name alone. */
  readonly trusted: boolean;
  /** Compiles for a run: a worker without a model, or a variable that is not set, is an error. */
  readonly toRun: boolean;
}

export interface Compiled {
  /** Undefined if there are errors, or if its code could not be looked at for lack of trust. */
  readonly program: Program | undefined;
  /** Describes for people what the program is and could do, also without trust. Undefined if there are errors. */
  readonly outline: Outline | undefined;
  /** Describes what it could do by its files alone, without its caller's options. Undefined if there are errors. */
  readonly reach: Reach | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Absolute paths of the program's code that a run would execute, scripts that play its models included. */
  readonly codeFiles: readonly string[];
  /** Present if the folder is not trusted, and something of it needs trust. */
  readonly untrusted?: NeedOfTrust;
  /**
   * Present beside `untrusted`: goes on with trust, imports the code and links what it holds. Files keep the text that they had; a
   * module that has changed on disk since then does not run, which is reported as an error.
   */
  readonly trust?: () => Promise<Compiled>;
}

/*
 * Terminology. A compilation *locates* the program (its folder, its manifest, its entry), *resolves* what its files name to other
 * files, *links* these to the form that runs, and *describes* it: the outline is what the program is and could do, the reach is the
 * part of it that trust is given for. *Trusted* code is imported; of other code the text alone is read, so that what only an
 * import shows stays *unverified*. No pass calls a model. Passes report what is wrong and go on: an author sees all of it at once.
 */

/** Compiles a program. `host` should be a snapshot where `trust` is to see the same files. */
export async function compile(options: CompileOptions): Promise<Compiled> {
  const located = await locateTarget(options);
  if ("place" in located) return compileAt(located.place, { ...options, skillFiles: new Map() });
  return { program: undefined, outline: undefined, reach: undefined, diagnostics: located.diagnostics, codeFiles: [] };
}

interface KnownFiles {
  /** Read once, whether or not trust is asked for in between. */
  readonly skillFiles: Compilation["skillFiles"];
}

async function compileAt(place: LocatedProgram, options: CompileOptions & KnownFiles): Promise<Compiled> {
  const compilation = await createCompilation(options, place);
  const { diagnostics, modules } = compilation;
  let description: Description | undefined;
  // Called once the program runs, when it is described.
  const abilitiesBeyond: LinkOptions["abilitiesBeyond"] = (caller, callee) =>
    description ? describeAbilitiesBeyond(description.graph, caller, callee) : [];
  const linked = await link(compilation, place, { ...options, abilitiesBeyond, graph: () => description?.graph });
  description = describe(compilation, linked);
  if (description) await checkInstructions(compilation, linked.resolved.values(), description.graph);
  const untrusted = modules.trusted ? undefined : needOfTrust(compilation, linked);
  const isVerified = modules.trusted || !modules.areUsed;
  const { entry } = linked;
  const isWhole = isVerified && description && !diagnostics.hasErrors;
  const program = entry && isWhole ? freezeProgram(compilation, { ...linked, entry }) : undefined;
  if (program) {
    makers.set(
      program,
      [...linked.resolved.values()].map((one) => ({ ...one, maker: linked.makerOf(one) })),
    );
    if (description) ruled.set(program, description.ruled);
  }
  return {
    program,
    outline: description?.outline,
    reach: description?.reach,
    diagnostics: diagnostics.toArray(),
    codeFiles: linked.code.files,
    ...(untrusted ? { untrusted, trust: () => compileAt(place, { ...options, trusted: true }) } : {}),
  };
}

type NamedMaker = Pick<ResolvedWorker, "id" | "name"> & { readonly maker: WorkerMaker };

const makers = new WeakMap<Program, readonly NamedMaker[]>();

/** Makes workers for a worker of a program, by its id or name; by default for its entry. Throws an `Error` if it is not one. */
export function makerOf(program: Program, creator?: string): WorkerMaker {
  const { entry } = program;
  const wanted = creator ?? (entry.kind === "worker" ? entry.worker.id : undefined);
  const [one, ...others] = (makers.get(program) ?? []).filter(({ id, name }) => id === wanted || name === wanted);
  if (one && others.length === 0) return one.maker;
  throw new Error(`\`creator\` has to name one worker of the program${wanted === undefined ? "" : `, not \`${wanted}\``}`);
}

export type { Mention } from "./link/link-rules.ts";

const ruled = new WeakMap<Program, RuledProgram>();

/** Reports mentions of tools, workers, arguments and paths that a compiled program does not have. */
export function diagnoseMentions(program: Program, mentions: readonly Mention[]): readonly Diagnostic[] {
  const diagnostics = new DiagnosticList();
  const known = ruled.get(program);
  if (!known) throw new Error("invariant: the program was not compiled here");
  checkMentions(linkMentions(mentions, diagnostics), known, diagnostics);
  return diagnostics.toArray();
}

interface Linked extends Omit<OutlineParts, "entry"> {
  /** The place of the entry; undefined if it was not found. */
  readonly at: LocatedEntry | undefined;
  readonly entry: Entry | undefined;
  readonly makerOf: WorkerLinks["makerOf"];
}

interface LinkOptions extends CompileOptions, Pick<WorkerSource, "abilitiesBeyond">, Pick<Creation, "graph"> {}

async function link(compilation: Compilation, place: LocatedProgram, options: LinkOptions): Promise<Linked> {
  const { diagnostics } = compilation;
  const at = await locateEntry(compilation, place, options.entry);
  const calls = new CallTable(compilation);
  const resolved = at ? await resolveAll(compilation, at, calls) : new Map<string, ResolvedWorker>();
  checkNames(resolved, diagnostics);
  checkDescriptions(resolved, diagnostics);
  const { workers, makerOf } = await linkAll(resolved, compilation, options);
  const servers = await linkProviders(compilation, workers.values(), options.providers);
  const entryScopes = at?.kind === "code" ? await linkScopes(compilation, undefined) : [];
  const entry = at && (await linkEntry(compilation, at, { workers, scopes: entryScopes }));
  if (at) compilation.overrides.reportUnused(resolved.values());
  await checkUnusedServers(compilation);
  if (entry && options.entry === undefined && place.worker === undefined) await checkManifestArgs(compilation, entry);
  if (at && !diagnostics.hasErrors) {
    reportUnusedEntries(compilation, workers.values());
    reportUnusedScopes(resolved.values(), diagnostics);
    reportPlainAttachments(resolved.values(), diagnostics);
    if (options.model?.trim()) reportUnusedModel(compilation, workers.values(), options.model);
    compilation.scopeRoots.reportUnused();
  }
  const code = await findCode(compilation, workers);
  return {
    at,
    entry,
    resolved,
    workers,
    callables: calls.link(workers, options.abilitiesBeyond),
    servers,
    code,
    entryScopes,
    makerOf,
  };
}

interface Description {
  readonly graph: Graph;
  readonly outline: Outline;
  readonly reach: Reach;
  readonly ruled: RuledProgram;
}

/** Describes a program that links without errors; reports rules that match none of its calls. */
function describe(compilation: Compilation, linked: Linked): Description | undefined {
  const { diagnostics, rules } = compilation;
  if (!linked.at || diagnostics.hasErrors) return undefined;
  const parts = { ...linked, entry: linked.at };
  const { callables } = parts;
  const outline = buildOutline(compilation, parts);
  const graph = { workers: new Map(outline.workers.map((worker) => [worker.id, worker])), callables };
  const workers = [...parts.workers.values()];
  const toolArguments = argumentsOfTools(workers, callables);
  const ruledProgram = { outline, workers, callables: [...callables.keys()], toolArguments, builtInTools };
  checkRules(rules, ruledProgram, diagnostics);
  return {
    ruled: ruledProgram,
    outline,
    reach: describeReach(compilation, parts, outline),
    graph,
  };
}

/**
 * Leaves out the rules of the caller: they are no part of what the program asks to be trusted with. Rules about arguments are
 * compared as texts: in an outline they turn `asks` into `depends`, which would read as growth.
 */
function describeReach(compilation: Compilation, parts: OutlineParts, outline: Outline): Reach {
  const own = compilation.rules.filter(({ written }) => !isFlag(written.span));
  const rules = own.filter(({ pattern }) => pattern.args.length === 0);
  const described = rules.length === compilation.rules.length ? outline : buildOutline({ ...compilation, rules }, parts);
  return reachOf(described, { rules: own, addresses: addressesOf(parts.servers) });
}

async function createCompilation(options: CompileOptions & KnownFiles, place: LocatedProgram): Promise<Compilation> {
  const { builtIns, records, trusted, set, modelFor, ofProgram, userLimits, rules = [], scopes = {}, toRun } = options;
  const { root, listed, worker } = place;
  const host = withFiles(options.host, root, options.before ?? new Map());
  const realRoot = await host.files.realPath(root).catch(() => root);
  const diagnostics = new DiagnosticList();
  const { report } = diagnostics;
  const files = new ProgramFiles({ host, report, listed: listed ?? (worker === undefined ? [] : [worker]) });
  const manifest = await loadManifest(place, { host, files, diagnostics });
  const config = await loadUserConfig(host);
  const { limits, ...settings } = config.file;
  diagnostics.addAll(config.diagnostics);
  const generated = generatedFolder(root, manifest, diagnostics);
  const createOption = (name: string, text: string) => {
    const source = createOptionSource(name, text);
    files.place(source, join(root, "options"));
    return source;
  };
  const model = ofProgram?.model;
  const names = listed ? listedNames(listed) : folderNames(host, root, generated);
  const home: Home = { folder: root, prefix: "", names };
  return {
    host,
    name: manifest?.name?.value ?? (basename(root) || root),
    root,
    realRoot,
    copyOf: options.copyOf,
    home,
    generated,
    manifest,
    config: userLimits && limits ? config.file : settings,
    diagnostics,
    builtIns,
    records,
    files,
    skillFiles: options.skillFiles,
    modules: new Modules({ host, files, trusted, report }),
    packages: new Packages({ host, root, realRoot, manifest, report }),
    overrides: new Overrides({ set, modelFor, ofProgram, createOption }, report),
    modelOfProgram: model === undefined ? undefined : { value: model, span: wholeOf(createOption("--model", model)) },
    rules: linkRules(manifest, rules, diagnostics),
    scopeRoots: new ScopeRoots(scopes, report),
    secrets: new Map(),
    variables: new Set(),
    used: new Set(),
    checks: ofProgram?.checks ?? true,
    toRun,
  };
}

/** Code that starts a run reaches all workers of its program, and the tools beside it. */
async function resolveAll(compilation: Compilation, entry: LocatedEntry, calls: CallTable): Promise<Map<string, ResolvedWorker>> {
  const { home, modules } = compilation;
  if (entry.kind === "worker")
    return resolveWorkers(
      compilation,
      [{ path: entry.path, home: homeOf(entry.path, home), isEntry: true, from: entry.from }],
      calls,
    );
  const code = { path: entry.path, home, name: entry.name.value, from: entry.name.span };
  const files = new Set([entry.path, ...(await home.names.codeFiles())]);
  const exports = await Promise.all([...files].map((path) => modules.values(path, { home, from: entry.name.span })));
  const tools = exports.flatMap((values) => [...(values ?? [])].flatMap(([name, value]) => (isTool(value) ? [name] : [])));
  const reached = await calls.add([...new Set([...(await home.names.workerNames()), ...tools])], code);
  const start = reached.map(({ path, home: inside }) => ({ path, home: inside, isEntry: false, from: undefined }));
  return resolveWorkers(compilation, start, calls);
}

async function linkAll(
  resolved: Map<string, ResolvedWorker>,
  compilation: Compilation,
  { providers: known, model, abilitiesBeyond, graph }: LinkOptions,
): Promise<{ readonly workers: Map<string, Worker>; readonly makerOf: WorkerLinks["makerOf"] }> {
  const workers = new Map<string, Worker>();
  const workerOf = (path: string): Worker => {
    const worker = workers.get(path);
    if (!worker) throw new Error(`invariant: ${path} was not linked`);
    return worker;
  };
  const names = providerNames(compilation, known);
  const modelOf = (worker: ResolvedWorker) => linkModel(compilation, worker, { names, providers: known, model });
  const makerOf: WorkerLinks["makerOf"] = (one) => createMaker({ links: () => links, graph }, one);
  const links: WorkerLinks = {
    compilation,
    providers: known,
    modelOf,
    workerOf,
    workers: () => workers.values(),
    abilitiesBeyond,
    makerOf,
  };
  for (const one of resolved.values()) workers.set(one.path, await linkWorker(one, links));
  for (const one of resolved.values()) {
    const kept = withoutGrowth(compilation, one, workerOf(one.path));
    if (kept === one) continue;
    resolved.set(one.path, kept);
    workers.set(one.path, await linkWorker(kept, links));
  }
  return { workers, makerOf };
}

/** A view of a host in which some files below a folder have other texts than on disk, or, with null, are not there. */
function withFiles(host: Host, folder: string, texts: ReadonlyMap<string, string | null>): Host {
  if (texts.size === 0) return host;
  const { files } = host;
  const given = new Map([...texts].map(([path, text]) => [join(folder, path), text]));
  const kind: Host["files"]["kind"] = async (path) => (given.get(path) === null ? undefined : files.kind(path));
  const readText = async (path: string, options?: ReadOptions) => given.get(path) ?? files.readText(path, options);
  return { ...host, files: { ...files, kind, readText } };
}
