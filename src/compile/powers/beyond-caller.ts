import { type FileUse, fileUseOf, takesAttachments } from "../../protocol/file-use.ts";
import type { OutlinedScope, OutlinedTool, OutlinedToolset, OutlinedWorker } from "../../protocol/outline.ts";
import { programSuffix } from "../../protocol/program-file.ts";
import { getOrMake } from "../../util/get-or-make.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { type Graph, namesCalledBy, reachedFrom } from "./ceiling.ts";
import { isAsNarrow } from "./reach.ts";

/** One thing that a worker could do. Two with equal texts and groups are the same. */
interface Ability {
  readonly text: string;
  /** Abilities of one group are told together, behind its name. */
  readonly group?: string;
}

/** A use of a scope that a worker's tools can make. */
interface ScopeUse {
  readonly use: Exclude<FileUse, "none">;
  readonly scope: OutlinedScope;
}

/** The abilities of one worker, or of several together: each ability and each use once, by what it says. */
interface Abilities {
  readonly abilities: ReadonlyMap<string, Ability>;
  readonly scopes: ReadonlyMap<string, ScopeUse>;
}

interface OwnAbilities extends Abilities {
  readonly use: FileUse;
  readonly declared: readonly OutlinedScope[];
}

/** The abilities in a graph by the ids of workers: of each by itself, and of all that it reaches. Found once, since a graph never changes. */
interface Found {
  readonly own: Map<string, OwnAbilities>;
  readonly reached: Map<string, Abilities>;
}

const found = new WeakMap<Graph, Found>();

/**
 * Lists what a worker could do, itself or through what it calls, that its caller cannot do by itself: a text each, what weighs most
 * first. Without a caller (code that starts a run), all that it could do. `explain`, and the question for a call of a worker, say it.
 */
export function abilitiesBeyond(graph: Graph, caller: string | undefined, callee: string): readonly string[] {
  const known = caller === undefined ? undefined : ownAbilities(graph, caller);
  const { abilities, scopes } = reachedAbilities(graph, callee);
  return grouped([
    ...[...abilities].flatMap(([key, ability]) => (known?.abilities.has(key) ? [] : [ability])),
    ...[...scopes.values()].flatMap((use) => scopeAbility(use, known) ?? []),
  ]);
}

function foundIn(graph: Graph): Found {
  return getOrMake(found, graph, () => ({ own: new Map(), reached: new Map() }));
}

function ownAbilities(graph: Graph, id: string): OwnAbilities | undefined {
  const worker = graph.workers.get(id);
  return worker && getOrMake(foundIn(graph).own, id, () => describeWorker(worker, graph));
}

function describeWorker(worker: OutlinedWorker, graph: Graph): OwnAbilities {
  const use = fileUseOf(worker, graph.workers);
  const used = use === "none" ? [] : worker.scopes.map((scope) => [`${use} ${JSON.stringify(scope)}`, { use, scope }] as const);
  const abilities = abilitiesOf(worker, graph).map((ability) => [keyOf(ability), ability] as const);
  return { use, declared: worker.scopes, abilities: new Map(abilities), scopes: new Map(used) };
}

function reachedAbilities(graph: Graph, callee: string): Abilities {
  return getOrMake(foundIn(graph).reached, callee, () => {
    const all = [...reachedFrom(graph, callee)].flatMap((id) => ownAbilities(graph, id) ?? []);
    return {
      abilities: new Map(all.flatMap(({ abilities }) => [...abilities])),
      scopes: new Map(all.flatMap(({ scopes }) => [...scopes])),
    };
  });
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
  return kind === "code" && file !== undefined && !file.endsWith(programSuffix)
    ? [{ text: `run ${file} (code, with your rights)` }]
    : [];
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
  return [{ text: `take ${maxAttachments} attachments at most, ${formatCount(maxTotalBytes)} bytes in all` }];
}

function scopeAbility({ use, scope }: ScopeUse, caller: OwnAbilities | undefined): Ability | undefined {
  const { declared = [] } = caller ?? {};
  if (use === "hand-on") return covers(declared, scope, false) ? undefined : { text: `hand on files of ${scope.root}` };
  const writes = scope.mode === "rw";
  if (covers(caller?.use === "all" ? declared : [], scope, writes)) return undefined;
  return { text: `${writes ? "write" : "read"} ${scope.root}${boundsOf(scope, writes)}` };
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
