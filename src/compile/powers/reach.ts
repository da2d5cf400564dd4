import { resolve } from "node:path";
import { defaultAttachmentPolicy, defaultTurns } from "../../program/program.ts";
import type { ApprovalRule } from "../../protocol/approval.ts";
import type { AttachmentPolicy } from "../../protocol/attachment-policy.ts";
import type { Outline, OutlinedScope, OutlinedTool, OutlinedWorker } from "../../protocol/outline.ts";
import type { Freedom, Reach, WorkerReach } from "../../protocol/reach.ts";
import type { Limits } from "../../protocol/usage.ts";
import { isWithin } from "../../util/within.ts";
import { touchesScopes } from "./ceiling.ts";

export interface ManifestWords {
  readonly rules: readonly ApprovalRule[];
  readonly addresses: readonly string[];
}

/** Describes what trust is given for. */
export function reachOf(outline: Outline, { rules, addresses }: ManifestWords): Reach {
  const { entry, workers, ceiling, root, limits, approval } = outline;
  const { network = [] } = ceiling;
  const describe = (worker: OutlinedWorker) => workerReach(worker, { root, network: network.includes(worker.id) });
  const ids = new Set(ceiling.workers);
  const reached = workers.filter(({ id }) => ids.has(id));
  return {
    code: ceiling.code,
    packages: ceiling.packages ?? [],
    variables: ceiling.variables ?? [],
    workers: Object.fromEntries([
      ...reached.map((worker) => [worker.id, describe(worker)] as const),
      ...(entry.kind === "code" ? [[`${entryMark}${entry.file}:${entry.name}`, entryReach(entry.scopes)] as const] : []),
    ]),
    addresses,
    restrictions: [
      ...(approval === "reject_all" ? ["mode reject_all"] : []),
      ...rules.map(({ effect, rule }) => `rule ${effect} ${rule}`),
    ],
    limits,
  };
}

/** Stands before the name of code that starts runs: no worker's id holds a blank. */
const entryMark = "entry ";

/** Code that starts a run has scopes of its own, and calls what the workers' reach tells of. */
function entryReach(scopes: readonly OutlinedScope[]): WorkerReach {
  return { ...nothing, scopes: scopesOfFiles(scopes) };
}

/** Without those whose folder the user chose. */
function scopesOfFiles(scopes: readonly OutlinedScope[]): readonly OutlinedScope[] {
  return scopes.filter(({ isChosen }) => !isChosen);
}

/** The same of one worker. */
export function reachOfWorker(worker: OutlinedWorker, root: string): WorkerReach {
  return workerReach(worker, { root, network: worker.commands?.networkEnabled ?? false });
}

/** Lists what a worker could do now and could not before, in words that follow its name. */
export function growthOfWorker(before: WorkerReach, now: WorkerReach, folder = "/"): string[] {
  return [...workerGrowth(before, now), ...loosening(before, now, folder)];
}

function workerReach(
  { model, scopes, toolsets, limits, attachments, commands, code }: OutlinedWorker,
  { root, network }: { readonly root: string; readonly network: boolean },
): WorkerReach {
  return {
    models: model?.namedBy === "program" ? [model.id.replace(`scripted:${root}/`, "scripted:")] : [],
    scopes: touchesScopes(toolsets) ? scopesOfFiles(scopes) : [],
    references: [...(code === undefined ? [] : [`code ${code}`]), ...toolsets.map(({ reference }) => reference)],
    tools: Object.fromEntries(
      toolsets.flatMap(({ reference, tools }) => tools.map((tool) => [`${reference}/${tool.name}`, freedomOf(tool)])),
    ),
    network,
    rules: toolsets.flatMap(({ reference, kind, tools, rules = [] }) => [
      ...rules.map((rule) => `${reference}: ${rule}`),
      // The description of a provider's tool holds its bounds.
      ...(kind === "provider" ? tools.map(({ description }) => `${reference}: ${description}`) : []),
    ]),
    limits,
    attachments,
    isolationRequired: commands?.isolationRequired ?? false,
  };
}

function freedomOf({ plan: { verdict }, preApproved }: OutlinedTool): Freedom {
  if (verdict !== "depends" || preApproved === undefined) return verdict;
  return preApproved ? "pre-approved" : "asks";
}

/** Both: what is said of a worker now takes the place of what was said of it before. */
export function mergeReach(before: Reach | undefined, now: Reach): Reach {
  const both = (key: "code" | "packages" | "variables"): string[] => [...new Set([...(before?.[key] ?? []), ...now[key]])].sort();
  const workers = { ...before?.workers, ...now.workers };
  return { ...now, code: both("code"), packages: both("packages"), variables: both("variables"), workers };
}

/**
 * Lists what a program could do now and could not before, a text each. Empty if it could do the same, or less.
 * `folder`: the program's, which roots are relative to. Without it, scopes in the folder and those around it are told apart.
 */
export function growthOf(before: Reach, now: Reach, folder = "/"): string[] {
  const code = now.code.filter((file) => !before.code.includes(file)).map((file) => `runs ${file}, with all of your rights`);
  const workers = Object.entries(now.workers).flatMap(([id, worker]) => {
    const known = Object.hasOwn(before.workers, id) ? before.workers[id] : undefined;
    const more = (known ? growthOfWorker(known, worker, folder) : workerGrowth(nothing, worker)).map((text) => `${id} ${text}`);
    return known ? more : [`${id} is ${id.startsWith(entryMark) ? "new" : "a new worker"}`, ...more];
  });
  const addresses = now.addresses.filter((address) => !before.addresses.includes(address));
  const lifted = before.restrictions.filter((rule) => !now.restrictions.includes(rule));
  const packages = now.packages.filter((one) => !before.packages.includes(one));
  const variables = now.variables.filter((name) => !before.variables.includes(name));
  return [
    ...code,
    ...packages.map((one) => `its code loads the package ${one}`),
    ...variables.map((name) => `its configuration takes the variable ${name} of the environment`),
    ...addresses.map((address) => `its models are reached at ${address}`),
    ...lifted.map((rule) => `the manifest no longer has the ${rule}`),
    ...limitGrowth(before.limits, now.limits).map((text) => `a run ${text}`),
    ...workers,
  ];
}

const nothing: WorkerReach = {
  models: [],
  scopes: [],
  references: [],
  tools: {},
  network: false,
  rules: [],
  limits: {},
  attachments: defaultAttachmentPolicy,
  isolationRequired: false,
};

function workerGrowth(before: WorkerReach, now: WorkerReach): string[] {
  return [
    ...now.scopes.flatMap((scope) => scopeGrowth(before.scopes, scope)),
    ...Object.entries(now.tools).flatMap(([tool, freedom]) => toolGrowth(before.tools, tool, freedom)),
    ...now.references.flatMap((reference) => referenceGrowth(before, now, reference)),
    ...(now.network && !before.network ? ["runs commands with the network"] : []),
    ...now.rules.filter((rule) => !before.rules.includes(rule)).map((rule) => `has the rule ${rule}`),
    ...now.models.filter((model) => !before.models.includes(model)).map((model) => `sends to ${model}`),
  ];
}

/** Lists restrictions of a known worker that are gone. */
function loosening(before: WorkerReach, now: WorkerReach, folder: string): string[] {
  return [
    ...liftedScopes(before.scopes, now.scopes, folder),
    ...(before.isolationRequired && !now.isolationRequired ? ["no longer requires that its commands are isolated"] : []),
    ...limitGrowth(before.limits, now.limits),
    ...(isCovered(before.attachments, now.attachments)
      ? []
      : [`takes more attachments: ${describeAttachments(now.attachments)}`]),
  ];
}

/** Limits that hold where nobody says otherwise. */
const standard: Limits = { turns: defaultTurns };

function limitGrowth(before: Limits, now: Limits): string[] {
  return Object.entries({ ...standard, ...before }).flatMap(([name, limit]: [string, number]) => {
    const left = { ...standard, ...now }[name as keyof Limits];
    if (left === undefined) return [`no longer has the limit ${name}: ${limit}`];
    return left > limit ? [`has the limit ${name}: ${left}, and had ${limit}`] : [];
  });
}

function isCovered(before: AttachmentPolicy, now: AttachmentPolicy): boolean {
  // An empty list stands for all.
  const narrower = (known: readonly string[], list: readonly string[]) =>
    known.length === 0 || (list.length > 0 && list.every((one) => known.includes(one)));
  return (
    now.maxAttachments <= before.maxAttachments &&
    now.maxTotalBytes <= before.maxTotalBytes &&
    narrower(before.allowedSuffixes, now.allowedSuffixes) &&
    narrower(before.mediaTypes, now.mediaTypes) &&
    before.deniedSuffixes.every((suffix) => now.deniedSuffixes.includes(suffix))
  );
}

function describeAttachments(policy: AttachmentPolicy): string {
  const { maxAttachments, maxTotalBytes, allowedSuffixes, deniedSuffixes, mediaTypes } = policy;
  const kinds = [...allowedSuffixes, ...mediaTypes].join(" ") || "of any kind";
  const denied = deniedSuffixes.length > 0 ? `, but for ${deniedSuffixes.join(" ")}` : "";
  return `${maxAttachments} files of ${maxTotalBytes} bytes together, ${kinds}${denied}`;
}

function scopeGrowth(before: readonly OutlinedScope[], scope: OutlinedScope): string[] {
  if (before.some((known) => covers(known, scope))) return [];
  const does = scope.mode === "rw" ? "reads and writes" : "reads";
  const facts = [
    ...(scope.suffixes ? [scope.suffixes.join(" ")] : []),
    ...(scope.mode === "rw" && !scope.writeApproval ? ["writing does not ask"] : []),
    ...describeChange(before, scope),
  ];
  return [`${does} ${showRoot(scope)}${facts.length > 0 ? ` (${facts.join("; ")})` : ""}`];
}

function showRoot({ root }: OutlinedScope): string {
  return root === "." ? "the program's folder" : root;
}

function describeChange(before: readonly OutlinedScope[], scope: OutlinedScope): string[] {
  const known = before.filter(({ root }) => root === scope.root);
  if (known.length === 0) return [];
  return known.some((one) => isAsNarrow(one, scope)) ? [`as the scope ${scope.name}`] : ["less narrowly than before"];
}

/**
 * Folders that had a scope of their own, which the next one around them does not replace: of nested scopes, the deepest decides.
 */
function liftedScopes(before: readonly OutlinedScope[], now: readonly OutlinedScope[], folder: string): string[] {
  const place = ({ root }: OutlinedScope) => resolve(folder, root);
  return before.flatMap((known) => {
    if (now.some(({ root }) => root === known.root)) return [];
    const around = now.filter((scope) => isWithin(place(known), place(scope)));
    const [deepest] = around.sort((a, b) => place(b).length - place(a).length);
    if (!deepest || isAsNarrow(known, deepest)) return [];
    return [`reaches ${known.root} as a part of ${showRoot(deepest)}, and had a narrower scope for it`];
  });
}

/** Rules of the shell and of approvals speak of scopes by their names. */
function covers(known: OutlinedScope, now: OutlinedScope): boolean {
  return known.name === now.name && known.root === now.root && isAsNarrow(known, now);
}

/** Returns true if a scope lets through no more than a known one. */
export function isAsNarrow(known: OutlinedScope, now: OutlinedScope): boolean {
  return (
    (known.mode === "rw" || now.mode === "ro") &&
    (!known.suffixes || now.suffixes?.every((suffix) => known.suffixes?.includes(suffix)) === true) &&
    (known.maxFileBytes ?? Number.POSITIVE_INFINITY) >= (now.maxFileBytes ?? Number.POSITIVE_INFINITY) &&
    (now.mode === "ro" || ((now.writeApproval || !known.writeApproval) && (now.writesAlwaysAsk || !known.writesAlwaysAsk))) &&
    (now.readApproval || !known.readApproval)
  );
}

const freedoms: readonly Freedom[] = ["blocked", "asks", "depends", "pre-approved", "allowed"];

const afterwards: Readonly<Record<Freedom, string>> = {
  blocked: "which is blocked",
  asks: "after a question",
  depends: "by the arguments with or without a question",
  "pre-approved": "without a question unless a rule asks",
  allowed: "without a question",
};

function toolGrowth(before: WorkerReach["tools"], tool: string, freedom: Freedom): string[] {
  const known = Object.hasOwn(before, tool) ? before[tool] : undefined;
  const isKnown = known !== undefined && freedoms.indexOf(freedom) <= freedoms.indexOf(known);
  return isKnown ? [] : [`calls ${tool}, ${afterwards[freedom]}`];
}

/** A reference whose tools are known is told by them. */
function referenceGrowth(before: WorkerReach, now: WorkerReach, reference: string): string[] {
  const isTold = before.references.includes(reference) || Object.keys(now.tools).some((tool) => tool.startsWith(`${reference}/`));
  return isTold ? [] : [`uses ${reference}`];
}
