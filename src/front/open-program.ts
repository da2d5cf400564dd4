import { basename, dirname, isAbsolute, join } from "node:path";
import { checkRuleOptions } from "../approval/policy.ts";
import { type Compiled, type CompileOptions, compile as compileProgram } from "../compile/compile.ts";
import { CompileError, UntrustedProgram } from "../compile/compile-error.ts";
import { checkDefined, toDefinedSource } from "../compile/define-worker.ts";
import { warningsOfRun } from "../compile/warnings-of-run.ts";
import type { Host } from "../host/host.ts";
import { createWorkerRecords } from "../host/own-files/worker-records.ts";
import { createSnapshotHost } from "../host/snapshot-host.ts";
import { filesBefore } from "../journal/files-before.ts";
import { openStore } from "../journal/stores/find-store.ts";
import type { NewRun, OpenRecord, RunStore } from "../journal/stores/store.ts";
import type { Provider } from "../models/provider.ts";
import { createDeclaredProvider } from "../models/providers/named-provider.ts";
import { builtInProviders } from "../models/providers/providers.ts";
import type { Program } from "../program/program.ts";
import type { CompiledWith, ProgramOptions } from "../protocol/fact.ts";
import { RunError } from "../runtime/run-error.ts";
import { createBuiltInToolsets } from "../toolsets/built-ins.ts";
import { isWithin } from "../util/within.ts";
import { serverLogins } from "./credentials.ts";
import type { CompileRequest, RunRequest } from "./requests.ts";
import { describeCompilation, recordedSource } from "./resume.ts";

/** Throws a `TypeError` for options that cannot hold together, and for rules of another form. */
export function checkSource({ target, files, rules, ...request }: CompileRequest): void {
  if (target !== undefined && files) throw new TypeError("`target` and `files` exclude one another");
  checkDefined({ target, ...request });
  checkRuleOptions(rules, "rules");
}

/** As in `CompileOptions`. */
export type CompileManner = Partial<Pick<CompileOptions, "userLimits" | "copyOf">>;

/** `ofProgram`: options that the program gives itself, by a record or a test. They are recorded with those of the request. */
export async function compileSources(
  request: CompileRequest,
  ofProgram: ProgramOptions = {},
  manner: CompileManner = {},
): Promise<Compiled> {
  const { trust = false, toRun = false, host = await defaultHost(), providers = [], forRun, ...rest } = request;
  const known = [...builtInProviders, ...providers];
  const source = toDefinedSource(rest, host);
  const sources = createSnapshotHost(host, source.texts);
  const options = {
    ...rest,
    ...source.request,
    ofProgram,
    userLimits: true,
    ...manner,
    host: sources,
    ...(forRun === undefined ? {} : { before: await filesBefore(host, forRun) }),
    providers: known,
    builtIns: createBuiltInToolsets({ ...host, fetchWithLogin: serverLogins(host) }),
    records: createWorkerRecords(host),
    trusted: trust,
    toRun,
  };
  const keep = (compiled: Compiled, trusted: boolean): Compiled => {
    const { program } = compiled;
    const how = { compiled, trusted, toRun, host, sources, providers };
    if (program)
      compilations.set(program, {
        ...how,
        known: knownProviders(program, providers),
        compiledWith: describeCompilation(program, { ...rest, ...source.request, ofProgram }, host),
      });
    const { trust: goOn } = compiled;
    return goOn ? { ...compiled, trust: async () => keep(await goOn(), true) } : compiled;
  };
  return keep(await compileProgram(options), trust);
}

/** How a program was compiled, which its runs go by. */
interface Compilation {
  readonly compiled: Compiled;
  readonly trusted: boolean;
  readonly toRun: boolean;
  readonly host: Host;
  /** The host with the program's files as they were read. */
  readonly sources: Host;
  /** The request's own. */
  readonly providers: readonly Provider[];
  /** All providers of its models: the same list for all runs, so that values derived from it are kept. */
  readonly known: readonly Provider[];
  readonly compiledWith: CompiledWith;
}

function knownProviders({ servers }: Program, own: readonly Provider[]): readonly Provider[] {
  return [...builtInProviders, ...servers.map(createDeclaredProvider), ...own];
}

/** Held beside programs, so that nothing else passes for one. */
const compilations = new WeakMap<Program, Compilation>();

/** A program that is ready to run, and how it was compiled. */
export interface OpenProgram extends Omit<Compilation, "compiled" | "toRun" | "providers"> {
  readonly program: Program;
  /** Options of this request, and parts of the program, that have no effect. Empty for a program that was compiled before: its diagnostics hold them. */
  readonly warnings: readonly string[];
}

/** Returns a reader of a program's sources as they were compiled, by their paths in its folder. */
export function readerOf({ program, sources }: Pick<OpenProgram, "program" | "sources">): (path: string) => Promise<string> {
  return (path) => sources.files.readText(join(program.root, path));
}

/** The program of a request, compiled now or before, with the trust that it needs. */
export async function openProgram({
  program: given,
  ...source
}: CompileRequest & { readonly program?: Program }): Promise<OpenProgram> {
  if (given) refuseSource(source);
  const program = given ?? requireProgram(await compileRequested(source));
  const { compiled, toRun, ...how } = compilations.get(program) ?? refuse("`program` has to be what `compile` gave");
  if (source.toRun && !toRun) refuse("`program` has to be compiled with `toRun: true`");
  const trusted = how.trusted || source.trust === true;
  if (!trusted) requireTrust(compiled);
  const { host = how.host, providers = how.providers } = source;
  const warnings = given ? [] : warningsOfRun(compiled.diagnostics);
  const { compiledWith } = how;
  const sources = host === how.host ? how.sources : host;
  const known = providers === how.providers ? how.known : knownProviders(program, providers);
  return { program, warnings, trusted, host, known, compiledWith, sources };
}

/** A recorded run says itself which program it is of, where the request does not. */
async function compileRequested(request: CompileRequest): Promise<Compiled> {
  const { target, files, workers, forRun, host = await defaultHost() } = request;
  const isNamed = target !== undefined || (files !== undefined && workers === undefined);
  const recorded = isNamed || forRun === undefined ? undefined : await recordedSource(host, forRun, workers);
  if (!recorded) return compileSources(request);
  return compileSources({ ...(workers ? {} : recorded.source), ...request, host }, recorded.ofProgram);
}

function requireProgram(compiled: Compiled): Program {
  const { program, diagnostics } = compiled;
  if (diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(diagnostics);
  requireTrust(compiled);
  if (program) return program;
  throw new Error("invariant: a program compiles without errors and is none");
}

function requireTrust({ untrusted, reach }: Compiled): void {
  if (untrusted && reach) throw new UntrustedProgram(untrusted, reach);
}

export async function defaultHost(): Promise<Host> {
  const { createNodeHost } = await import("../host/node-host.ts");
  return createNodeHost();
}

/** Rejects options of `compile`, which have no effect on a compiled program. */
function refuseSource(source: CompileRequest): void {
  for (const key of ["target", "files", "workers", "entry", "model", "set", "modelFor", "scopes"] as const)
    if (source[key] !== undefined) refuse(`\`${key}\` says nothing beside \`program\`: pass it to \`compile\``);
}

export function refuse(message: string): never {
  throw new RunError("configuration", message);
}

/** The host that a program was compiled on. Throws a `RunError` for any other value. */
export function hostOf(program: Program): Host {
  return (compilations.get(program) ?? refuse("`program` has to be what `compile` gave")).host;
}

/** Begins the record of a run; undefined for one that keeps none. */
export async function beginRecord(
  opened: Pick<OpenProgram, "program" | "host">,
  { journal = opened.program.journal ?? true, store: given, trust = false }: Pick<RunRequest, "journal" | "store" | "trust">,
  run: Omit<NewRun, "program">,
): Promise<OpenRecord | undefined> {
  if (!journal) return undefined;
  const { root, name, isNamed } = opened.program;
  const store = openStore(opened.host, given);
  await refuseOverlap(opened, store);
  const program = { root: await realPathOf(opened.host, root), ...(isNamed ? { name } : {}) };
  return store.create({ ...run, program, isTrusted: trust });
}

/** Rejects a store that tools of the program would reach. */
export async function refuseOverlap(
  { program, host }: Pick<OpenProgram, "program" | "host">,
  { path, isOwn }: Pick<RunStore, "path" | "isOwn">,
): Promise<void> {
  if (isOwn || !isAbsolute(path)) return;
  const store = await realPathOf(host, path);
  const { entry, workers } = program;
  const code = entry.kind === "code" ? [{ id: entry.code.name, scopes: entry.code.scopes }] : [];
  for (const { id, scopes } of [...workers.values(), ...code])
    for (const { name, root, realRoot = await realPathOf(host, root) } of scopes)
      if (isWithin(store, realRoot) || isWithin(realRoot, store))
        refuse(`the store ${store} and the scope \`${name}\` of ${id} (${root}) lie in one another: name another store`);
}

/** The real path of a folder; one that is not there yet will lie in the nearest folder above it that is. */
async function realPathOf(host: Host, path: string): Promise<string> {
  const parent = dirname(path);
  return host.files
    .realPath(path)
    .catch(async () => (parent === path ? path : join(await realPathOf(host, parent), basename(path))));
}
