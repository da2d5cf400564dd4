import type { Outline, OutlinedToolset, OutlinedWorker, ToolsEstimate } from "../../protocol/outline.ts";
import { formatCount } from "../../util/text/format-count.ts";
import type { TreeNode } from "./layout.ts";
import { counted, list, show } from "./phrases.ts";
import { type PlannedCalls, planCalls } from "./plan-calls.ts";

/** Depth from which calls get a tree of their own, so that lines keep their width. */
const deepest = 4;

interface Walk {
  readonly outline: Outline;
  /** Ids of workers whose tools have a place in a tree. */
  readonly seen: Set<string>;
  /** Workers that get a tree of their own. */
  readonly later: OutlinedWorker[];
}

interface Branching extends Walk {
  readonly path: readonly string[];
  /** The first of the toolset's branches. */
  readonly isFirst: boolean;
}

/** Builds the tree of calls from the entry on, with the plan of each call. Each worker is described once. */
export function buildTrees(outline: Outline): TreeNode[] {
  const walk: Walk = { outline, seen: new Set(), later: [] };
  const trees = [buildEntry(walk)];
  for (const worker of walk.later) trees.push({ text: show(worker.name), children: branchesOf(worker, walk, [worker.id]) });
  return trees;
}

function buildEntry(walk: Walk): TreeNode {
  const { entry, workers } = walk.outline;
  if (entry.kind === "code") {
    const children = workers.map(({ name }) => callByCode(name, walk, []));
    return { text: `${show(entry.name)} (${show(entry.file)}), code that reaches all of its program`, children };
  }
  const worker = workers.find(({ id }) => id === entry.id);
  if (!worker) return { text: show(entry.id), children: [] };
  walk.seen.add(worker.id);
  return { text: show(worker.name), children: branchesOf(worker, walk, [worker.id]) };
}

function branchesOf(worker: OutlinedWorker, walk: Walk, path: readonly string[]): TreeNode[] {
  const branches = worker.toolsets.flatMap((toolset) =>
    planCalls(toolset).map((calls, index) => branchOf(toolset, calls, { ...walk, path, isFirst: index === 0 })),
  );
  const code = worker.code === undefined ? [] : [{ label: "code", text: `${show(worker.code)} answers first`, children: [] }];
  return branches.length > 0 || code.length > 0 ? [...code, ...branches] : [{ text: "(no tools)", children: [] }];
}

function branchOf(toolset: OutlinedToolset, { tools, plan }: PlannedCalls, walk: Branching) {
  const { reference, kind, file } = toolset;
  const names = tools.map(({ name }) => name);
  const origin = [...(names.length === 1 && names[0] === reference ? [] : [reference]), ...(file === undefined ? [] : [file])];
  const what = `${list(names)}${origin.length > 0 ? ` (${list(origin)})` : ""}: ${show(plan.why)}`;
  const called = kind === "worker" ? walk.outline.workers.find(({ id }) => id === toolset.worker) : undefined;
  if (toolset.workers) return { label: plan.verdict, text: what, children: callees(toolset.workers, walk) };
  if (!called) {
    const calls = [...new Set(tools.flatMap((tool) => tool.calls ?? []))];
    const rules = (toolset.rules ?? []).map((rule) => ({ label: "rule", text: show(rule), children: [] }));
    const size = toolset.estimate && walk.isFirst ? [{ label: "size", text: describeSize(toolset.estimate), children: [] }] : [];
    return {
      label: plan.verdict,
      text: what,
      children: [...rules, ...size, ...calls.map((name) => callByCode(name, walk, walk.path))],
    };
  }
  const { note, children } = enter(called, walk, walk.path);
  const beyond = walk.path.includes(called.id) ? "" : describeBeyond(toolset);
  return { label: plan.verdict, text: `${what}${beyond}${note}`, children };
}

function describeSize({ tools, tokens, deferred }: ToolsEstimate): string {
  const searched = deferred > 0 ? `, ${formatCount(deferred)} of them searched for` : "";
  return `${counted(tools, "tool")}${searched}, about ${counted(tokens, "token")} in each request, when it last connected`;
}

/** The workers that a tool calls by name. */
function callees(ids: readonly string[], walk: Walk & { readonly path: readonly string[] }): TreeNode[] {
  return walk.outline.workers
    .filter(({ id }) => ids.includes(id))
    .map((worker) => {
      const { note, children } = enter(worker, walk, walk.path);
      return { label: "may call", text: `${show(worker.name)}${note}`, children };
    });
}

/** A call that code makes by name. Its verdict is only known when it happens. */
function callByCode(name: string, walk: Walk, path: readonly string[]): TreeNode {
  const worker = walk.outline.workers.find((one) => one.name === name);
  const { note, children } = worker ? enter(worker, walk, path) : { note: "", children: [] };
  return { label: "may call", text: `${show(name)}${note}`, children };
}

function enter(worker: OutlinedWorker, walk: Walk, path: readonly string[]): { note: string; children: readonly TreeNode[] } {
  const noteOf = (...texts: readonly string[]) => {
    const said = [...(worker.createdBy ? [`created by ${show(worker.createdBy.name)}`] : []), ...texts];
    return said.length > 0 ? ` (${said.join("; ")})` : "";
  };
  if (path.includes(worker.id)) return { note: noteOf("calls itself again, to the limit of depth"), children: [] };
  if (walk.seen.has(worker.id)) return { note: noteOf("its tools are shown elsewhere"), children: [] };
  walk.seen.add(worker.id);
  if (path.length < deepest) return { note: noteOf(), children: branchesOf(worker, walk, [...path, worker.id]) };
  walk.later.push(worker);
  return { note: noteOf("its tools are shown below"), children: [] };
}

/** Describes what the caller cannot do itself, without single tools and attachments, which are shown elsewhere. */
function describeBeyond({ beyond = [] }: OutlinedToolset): string {
  const shown = beyond.filter((ability) => !/^(?:call|take) /.test(ability));
  return shown.length > 0 ? `; can, beyond its caller: ${shown.map(show).join("; ")}` : "";
}
