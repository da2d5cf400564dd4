import { fileUseOf, takesAttachments } from "../protocol/file-use.ts";
import type { OutlinedScope, OutlinedTool, OutlinedToolset, OutlinedWorker } from "../protocol/outline.ts";
import { type Graph, namesCalledBy, reachedFrom } from "./ceiling.ts";
import { isAsNarrow } from "./reach.ts";

/** One thing that a worker could do. Two with equal texts and groups are the same. */
interface Ability {
  readonly text: string;
  /** Abilities of one group are told together, behind its name. */
  readonly group?: string;
}

/**
 * Lists what a worker could do, itself or through what it calls, that its caller cannot do by itself: a text each, what weighs most
 * first. Without a caller (code that starts a run), all that it could do. `explain`, and the question for a call of a worker, say it.
 */
export function abilitiesBeyond(graph: Graph, caller: string | undefined, callee: string): readonly string[] {
  const own = caller === undefined ? undefined : graph.workers.get(caller);
  const known = new Set(own ? abilitiesOf(own, graph).map(keyOf) : []);
  const reached = [...reachedFrom(graph, callee)].flatMap((id) => graph.workers.get(id) ?? []);
  const abilities = reached.flatMap((worker) => [...abilitiesOf(worker, graph), ...scopeAbilities(worker, own, graph)]);
  return grouped(abilities.filter((ability) => !known.has(keyOf(ability))));
}

function keyOf({ group = "", text }: Ability): string {
  return group + text;
}

const calls = "call ";
const freeCalls = "call without a question: ";
const order = ["run ", "start ", "write ", "read ", "hand on ", "call ", "use ", "take ", "send "];

function grouped(abilities: readonly Ability[]): string[] {
  const groups = new Map<string, Set<string>>();
  for (const { text, group = text } of abilities) groups.set(group, (groups.get(group) ?? new Set()).add(text));
  for (const free of groups.get(freeCalls) ?? []) groups.get(calls)?.delete(free);
  if (groups.get(calls)?.size === 0) groups.delete(calls);
  const texts = [...groups].map(([group, members]) => (members.has(group) ? group : `${group}${[...members].sort().join(", ")}`));
  const said = new Set(texts);
  const isSaid = (text: string): boolean => {
    const root = /^(?:write|read|hand on files of) (.*)$/.exec(text)?.[1];
    const stronger = [`write ${root}`, `write ${root} without a question`];
    return root !== undefined && stronger.some((one) => one !== text && said.has(one));
  };
  const rank = (text: string) => order.findIndex((start) => text.startsWith(start));
  return texts.filter((text) => !isSaid(text)).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** All but the use of scopes, which is compared by their roots. */
function abilitiesOf(worker: OutlinedWorker, graph: Graph): Ability[] {
  const { commands, model, toolsets } = worker;
  return [
    ...toolsets.flatMap((toolset) => [...codeAbilities(toolset), ...ruleAbilities(toolset), ...toolAbilities(toolset)]),
    ...(commands?.networkEnabled ? [{ text: "start programs that use the network" }] : []),
    ...attachmentAbilities(worker),
    ...(model ? [{ text: `send to ${model.address === undefined ? model.id : `${model.id} at ${model.address}`}` }] : []),
    ...calledCode(worker, graph),
  ];
}

function codeAbilities({ kind, file, reference }: OutlinedToolset): Ability[] {
  if (kind === "unverified") return [{ text: `run ${reference}, which is not verified` }];
  return kind === "code" && file !== undefined ? [{ text: `run ${file} (code, with your rights)` }] : [];
}

/** Lists the tools that the code of its own tools calls by name. */
function calledCode({ toolsets }: OutlinedWorker, graph: Graph): Ability[] {
  const { callables } = graph;
  const tools = [...namesCalledBy(toolsets, graph)].filter((name) => callables.has(name) && !callables.get(name)?.worker);
  return tools.map((text) => ({ text, group: calls }));
}

/** Lists what the rules of a shell let through; also if all other commands run without a question. */
function ruleAbilities({ kind, rules = [], tools, workers: isDelegation }: OutlinedToolset): Ability[] {
  if (isDelegation) return [];
  const what = kind === "built-in" ? "run commands: " : "use ";
  const isFree = rules.length > 0 && tools.some(({ preApproved }) => preApproved === true);
  return [
    ...rules.map((rule) => ({ text: `${what}${rule}` })),
    ...(isFree ? [{ text: "run commands that its rules leave open, without a question" }] : []),
  ];
}

/** The built-in tools act on scopes and by rules: what these say is not repeated, but that a question is left out. */
function toolAbilities({ kind, reference, tools, rules = [], workers: isDelegation }: OutlinedToolset): Ability[] {
  if (isDelegation || kind === "worker" || kind === "unverified") return [];
  const nameOf = ({ name }: OutlinedTool) => (name === reference ? name : `${reference}/${name}`);
  if (kind === "built-in") {
    // `depends`: a scope or a rule still asks for some calls, and the others run without a question.
    const lifted = tools.filter(
      ({ plan, preApproved }) => rules.length === 0 && /allowed|depends/.test(plan.verdict) && preApproved === true,
    );
    return lifted.map((tool) => ({ text: nameOf(tool), group: freeCalls }));
  }
  return tools.flatMap((tool): Ability[] => {
    if (tool.plan.verdict === "blocked") return [];
    const call = { text: nameOf(tool), group: calls };
    return tool.plan.verdict === "allowed" ? [call, { ...call, group: freeCalls }] : [call];
  });
}

function attachmentAbilities(worker: OutlinedWorker): Ability[] {
  if (!takesAttachments(worker)) return [];
  const { maxAttachments, maxTotalBytes } = worker.attachments;
  return [{ text: `take ${maxAttachments} attachments at most, ${maxTotalBytes.toLocaleString("en-US")} bytes in all` }];
}

function scopeAbilities(worker: OutlinedWorker, caller: OutlinedWorker | undefined, graph: Graph): Ability[] {
  const use = fileUseOf(worker, graph.workers);
  if (use === "none") return [];
  const own = caller && fileUseOf(caller, graph.workers) === "all" ? caller.scopes : [];
  const handed = caller ? caller.scopes : [];
  return worker.scopes.flatMap((scope): Ability[] => {
    if (use === "hand-on") return covers(handed, scope, false) ? [] : [{ text: `hand on files of ${scope.root}` }];
    const writes = scope.mode === "rw";
    if (covers(own, scope, writes)) return [];
    return [{ text: `${writes ? "write" : "read"} ${scope.root}${boundsOf(scope, writes)}` }];
  });
}

function boundsOf({ suffixes, writeApproval }: OutlinedScope, writes: boolean): string {
  const free = writes && !writeApproval ? " without a question" : "";
  return `${suffixes ? ` (${suffixes.join(" ")})` : ""}${free}`;
}

/** Returns true if the deepest scope around the other one lets as much through, and no scope lies inside of the other one. */
function covers(scopes: readonly OutlinedScope[], scope: OutlinedScope, writes: boolean): boolean {
  const around = scopes.filter(({ root }) => contains(root, scope.root)).sort((a, b) => b.root.length - a.root.length);
  const [known] = around;
  if (!known || scopes.some(({ root }) => root !== scope.root && contains(scope.root, root))) return false;
  return isAsNarrow(known, writes ? scope : { ...scope, mode: "ro" });
}

/** Roots are relative to the program's folder where they lie in it, and absolute elsewhere. */
export function contains(outer: string, inner: string): boolean {
  if (outer === inner) return true;
  if (outer === ".") return !inner.startsWith("/") && !/^[A-Za-z]:/.test(inner);
  return inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`);
}
