import type { ToolsetReference } from "../../program/program.ts";
import { workersOf } from "../../protocol/file-use.ts";
import type { Ceiling, OutlinedScope, OutlinedToolset, OutlinedWorker } from "../../protocol/outline.ts";

/** The calls that are possible between workers. */
export interface Graph {
  /** By id. */
  readonly workers: ReadonlyMap<string, OutlinedWorker>;
  /** Workers and tools that code may call, by name. */
  readonly callables: ReadonlyMap<string, ToolsetReference>;
}

/** All that a worker could do, itself or through what it calls. A worker that is not in the graph adds nothing. */
export function ceilingOf(graph: Graph, id: string): Ceiling {
  return mergeCeilings([...reachedFrom(graph, id)].flatMap((one) => graph.workers.get(one) ?? []).map(ownCeiling));
}

/** The worker and those that it calls, at any depth. */
export function reachedFrom(graph: Graph, id: string): ReadonlySet<string> {
  const reached = new Set([id]);
  for (const next of reached) {
    for (const toolset of graph.workers.get(next)?.toolsets ?? []) {
      for (const called of calledWorkers(toolset, graph)) reached.add(called);
    }
  }
  return reached;
}

/** Lists the workers that a toolset calls, through the code of its tools, too. */
function calledWorkers(toolset: OutlinedToolset, graph: Graph): string[] {
  const byCode = [...namesCalledBy([toolset], graph)].flatMap((name) => graph.callables.get(name)?.worker?.().id ?? []);
  return [...workersOf(toolset), ...byCode];
}

/** Lists the names that the code of tools calls, and that the code behind these names calls in turn. */
export function namesCalledBy(toolsets: readonly OutlinedToolset[], { callables }: Graph): ReadonlySet<string> {
  const names = new Set(toolsets.flatMap(({ tools }) => tools.flatMap(({ calls = [] }) => calls)));
  for (const name of names)
    for (const { calls = [] } of callables.get(name)?.tools ?? []) for (const called of calls) names.add(called);
  return names;
}

/** Scopes are reached by tools: to read and write, or to send a file along. A worker without any has no use of its own. */
export function touchesScopes(toolsets: readonly OutlinedToolset[]): boolean {
  return toolsets.some(({ kind }) => kind !== "provider");
}

function ownCeiling({ id, model, scopes: declared, toolsets, commands }: OutlinedWorker): Ceiling {
  const scopes = touchesScopes(toolsets) ? declared : [];
  const code = toolsets.flatMap(({ kind, file }) => (kind === "code" && file !== undefined ? [file] : []));
  return {
    workers: [id],
    models: model ? [model.address === undefined ? model.id : `${model.id} at ${model.address}`] : [],
    ...rootsOf(scopes),
    tools: toolsets.flatMap(({ reference, tools }) => tools.map(({ name, plan }) => `${reference}/${name} ${plan.verdict}`)),
    rules: toolsets.flatMap(({ reference, rules = [] }) => rules.map((rule) => `${reference}: ${rule}`)),
    code,
    network: commands?.networkEnabled ? [id] : [],
    unverified: toolsets.flatMap(({ kind, reference }) => (kind === "unverified" ? [reference] : [])),
  };
}

const nothing: Ceiling = { workers: [], models: [], reads: [], writes: [], tools: [], rules: [], code: [], unverified: [] };

/** The ceiling of a code entry by its scopes. */
export function ceilingOfScopes(scopes: readonly OutlinedScope[]): Ceiling {
  return { ...nothing, ...rootsOf(scopes) };
}

function rootsOf(scopes: readonly OutlinedScope[]): Pick<Ceiling, "reads" | "writes"> {
  return {
    reads: scopes.map(({ root }) => root),
    writes: scopes.flatMap(({ mode, root }) => (mode === "rw" ? [root] : [])),
  };
}

export function mergeCeilings(ceilings: readonly Ceiling[]): Ceiling {
  const union = (key: keyof Ceiling): string[] => [...new Set(ceilings.flatMap((ceiling) => ceiling[key] ?? []))].sort();
  const network = union("network");
  return {
    workers: union("workers"),
    models: union("models"),
    reads: union("reads"),
    writes: union("writes"),
    tools: union("tools"),
    rules: union("rules"),
    code: union("code"),
    ...(network.length > 0 ? { network } : {}),
    unverified: union("unverified"),
  };
}
