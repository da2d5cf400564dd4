import { relative } from "node:path";
import type { ReadRule } from "../../approval/rules/approval-rule.ts";
import type { ScopeDeclaration } from "../../host/scopes/scopes.ts";
import { valuesOf } from "../../language/shapes/values-of.ts";
import type { ModelChoice, ToolsetReference, Worker } from "../../program/program.ts";
import { runsPrograms } from "../../program/runs-programs.ts";
import { workersOf } from "../../protocol/file-use.ts";
import type { ContextPart, Outline, OutlinedScope, OutlinedToolset, OutlinedWorker } from "../../protocol/outline.ts";
import { serverSideTools } from "../../toolsets/server-side-tools.ts";
import { toolName } from "../../toolsets/tool-name.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { sha256 } from "../../util/sha256.ts";
import { isWithin } from "../../util/within.ts";
import type { Compilation } from "../compilation.ts";
import type { LocatedEntry } from "../entry.ts";
import type { ProgramParts } from "../freeze-program.ts";
import { type LinkedServer, providerOf } from "../link/link-providers.ts";
import type { ResolvedReference } from "../resolve/resolve-reference.ts";
import type { ResolvedWorker } from "../resolve/resolve-workers.ts";
import { abilitiesBeyond } from "./beyond-caller.ts";
import { ceilingOf, ceilingOfScopes, type Graph, mergeCeilings } from "./ceiling.ts";
import { type PlanContext, planCallable, planTools } from "./plan-tools.ts";

export interface OutlineParts extends Omit<ProgramParts, "entry"> {
  readonly entry: LocatedEntry;
  readonly resolved: ReadonlyMap<string, ResolvedWorker>;
  /** Scopes of an entry that is code. */
  readonly entryScopes: readonly ScopeDeclaration[];
}

/** The plain description of a program that compiles, whether or not it is trusted. */
export function buildOutline(compilation: Compilation, parts: OutlineParts): Outline {
  const { name, root, manifest, modules } = compilation;
  const { entry, resolved, callables, servers, code } = parts;
  const showing = showingOf(compilation, servers);
  const { show } = showing;
  const entryScopes = parts.entryScopes.map((scope) => outlineScope(scope, showing));
  const workers = [...resolved.values()].flatMap((one) => {
    const worker = parts.workers.get(one.path);
    return worker ? [outlineWorker(one, worker, showing)] : [];
  });
  const graph: Graph = { workers: new Map(workers.map((worker) => [worker.id, worker])), callables };
  const start = entry.kind === "code" ? [...graph.workers.keys()] : [resolved.get(entry.path)?.id ?? ""];
  const ceilings = [...start.map((id) => ceilingOf(graph, id)), ceilingOfScopes(entryScopes)];
  const variables = [...compilation.variables].sort();
  const ceiling = {
    ...mergeCeilings(ceilings),
    code: code.files.map(show).sort(),
    ...(code.packages.length > 0 ? { packages: code.packages } : {}),
    ...(variables.length > 0 ? { variables } : {}),
  };
  return {
    v: 1,
    name,
    root,
    trusted: modules.trusted,
    entry:
      entry.kind === "code"
        ? { kind: "code", name: entry.name.value, file: show(entry.path), scopes: entryScopes }
        : { kind: "worker", id: start[0] ?? "" },
    workers: workers.map((worker) => withBeyond(worker, graph)),
    callables: [...callables.values()].flatMap((callable) => planCallable(callable, compilation.rules)),
    limits: valuesOf(manifest?.limits?.value ?? {}),
    ...(manifest?.approval?.value.mode ? { approval: manifest.approval.value.mode.value } : {}),
    ceiling,
    ceilingDigest: sha256(canonicalJson(ceiling)),
  };
}

export function showingOf({ root, realRoot, rules }: Compilation, servers: readonly LinkedServer[]): Showing {
  return { show: (path) => showPath(root, path), realRoot, servers, rules };
}

function showPath(root: string, path: string): string {
  return isWithin(path, root) ? relative(root, path).replaceAll("\\", "/") || "." : path;
}

export interface Showing {
  readonly show: (path: string) => string;
  readonly realRoot: string;
  readonly rules: readonly ReadRule[];
  readonly servers: readonly LinkedServer[];
}

export function outlineWorker({ references, path }: ResolvedWorker, worker: Worker, showing: Showing): OutlinedWorker {
  const { id, name, description, model, compatibleModels, input, output, scopes, limits, attachmentPolicy } = worker;
  const linked = new Map(worker.toolsets.map((one) => [one.reference, one]));
  const context = { ...showing, scopes, callers: [name, id], creators: worker.creators };
  return {
    id,
    name,
    description,
    file: showing.show(path),
    ...createdBy(worker),
    model: model ? outlineModel(model, showing) : null,
    ...(compatibleModels ? { compatibleModels } : {}),
    input: input.jsonSchema,
    ...(output ? { output: output.jsonSchema } : {}),
    scopes: scopes.map((scope) => outlineScope(scope, showing)),
    ...(runsPrograms(worker) ? { commands: worker.commands } : {}),
    context: [...worker.promptParts, ...worker.toolsets.flatMap(estimateTools)],
    limits,
    attachments: attachmentPolicy,
    ...(worker.code ? { code: worker.code.reference } : {}),
    toolsets: [
      ...references.flatMap((one) => outlineToolset(one, linked.get(one.syntax.reference.value), context) ?? []),
      ...outlineServerTools(worker, context),
    ],
  };
}

function createdBy({ creators: [creator] = [] }: Worker): Pick<OutlinedWorker, "createdBy"> {
  const [name, id] = creator ?? [];
  return name === undefined || id === undefined ? {} : { createdBy: { name, id } };
}

/** Definitions as a request has them. */
function estimateTools({ prefix, tools }: ToolsetReference): readonly ContextPart[] {
  return tools.map(({ name, description, input }) => {
    const definition = { name: toolName(prefix, name), description, inputSchema: input.jsonSchema };
    return { part: `tool ${definition.name}`, tokens: Math.ceil(JSON.stringify(definition).length / 4) };
  });
}

function outlineModel({ id, source, namedBy }: ModelChoice, { servers }: Showing): OutlinedWorker["model"] {
  const server = servers.find(({ name }) => name === providerOf(id));
  return { id, source, namedBy, ...(server ? { address: server.address } : {}) };
}

function outlineScope(scope: Worker["scopes"][number], { realRoot }: Showing): OutlinedScope {
  const real = scope.realRoot ?? scope.root;
  const { name, mode, suffixes, maxFileBytes, writeApproval = true, readApproval = false } = scope;
  return {
    name,
    root: showPath(realRoot, real),
    mode,
    outside: !isWithin(real, realRoot),
    ...(scope.isChosen ? { isChosen: true } : {}),
    ...(scope.pinned ? { isPinned: true } : {}),
    ...(suffixes ? { suffixes } : {}),
    ...(maxFileBytes === undefined ? {} : { maxFileBytes }),
    writeApproval,
    ...(mode === "rw" && scope.writeApproval === true ? { writesAlwaysAsk: true } : {}),
    readApproval,
  };
}

function outlineToolset(
  { syntax, target }: ResolvedReference,
  linked: ToolsetReference | undefined,
  { show, ...context }: Showing & PlanContext,
): OutlinedToolset | undefined {
  const reference = syntax.reference.value;
  if (target.kind === "unverified") return { reference, kind: "unverified", tools: [] };
  if (!linked) return undefined;
  const tools = planTools(linked, context);
  if (linked.worker) return { reference, kind: "worker", worker: linked.worker().id, tools };
  const file = target.kind === "toolset" ? target.code?.path : undefined;
  const { toolset, rules: found = [], estimate } = linked;
  const rules = { ...(found.length > 0 ? { rules: found } : {}), ...(estimate ? { estimate } : {}) };
  const starts = toolset.requires?.includes("commands") ? { startsPrograms: true as const } : {};
  const delegates = linked.delegates?.();
  const workers = delegates ? { workers: [...delegates.values()].map(({ id }) => id) } : {};
  if (file === undefined) return { reference, kind: "built-in", ...workers, tools, ...rules, ...starts };
  return { reference, kind: "code", file: show(file), tools, ...rules };
}

function outlineServerTools(worker: Worker, context: PlanContext): OutlinedToolset[] {
  if (worker.serverTools.length === 0) return [];
  const binding = serverSideTools(worker);
  return [{ reference: binding.reference, kind: "provider", tools: planTools(binding, context) }];
}

/** With what each called worker can do that its caller cannot. */
function withBeyond(worker: OutlinedWorker, graph: Graph): OutlinedWorker {
  const toolsets = worker.toolsets.map((toolset) => {
    const beyond = [...new Set(workersOf(toolset).flatMap((id) => abilitiesBeyond(graph, worker.id, id)))];
    return beyond.length > 0 ? { ...toolset, beyond } : toolset;
  });
  return { ...worker, toolsets };
}
