import { relative } from "node:path";
import type { ScopeDeclaration } from "../../host/scopes/scopes.ts";
import { spanAt } from "../../language/shapes/json-shape.ts";
import type { ToolsetSyntax } from "../../language/worker-file.ts";
import type { ToolsetReference } from "../../program/program.ts";
import { programSuffix } from "../../protocol/program-file.ts";
import { jsonSchemaProblem } from "../../schema/from-json-schema.ts";
import { readResultName } from "../../toolsets/results/read-result.ts";
import { type SkillsConfig, skills } from "../../toolsets/skills/skills.ts";
import { toolName } from "../../toolsets/tool-name.ts";
import { isTool, type Tool, type Toolset, type ToolsetRequirement, type ToolsetScope } from "../../toolsets/toolset.ts";
import { type DelegationConfig, delegationToolset } from "../../toolsets/workers/delegation.ts";
import { isDynamicWorkers, type WorkerMaker, workerToolset } from "../../toolsets/workers/worker-toolset.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { sha256 } from "../../util/sha256.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { Compilation } from "../compilation.ts";
import { expandVariables, noteVariables, type TextFilter, warnOfVariables } from "../expand-variables.ts";
import { workerName } from "../home.ts";
import type { Delegate, ReferenceTarget, ResolvedReference } from "../resolve/resolve-reference.ts";
import { linkSkills } from "./link-skills.ts";
import type { WorkerLinks } from "./link-worker.ts";
import { checkHeaderKeys, isServerVariable } from "./name-servers.ts";

export interface LinkContext extends Pick<WorkerLinks, "compilation" | "providers" | "workerOf" | "abilitiesBeyond"> {
  readonly scope: ToolsetScope;
  readonly scopes: readonly ScopeDeclaration[];
  /** Scopes are declared, and none of them could be read, which has been reported. */
  readonly scopesUnread: boolean;
  /** Makes workers for the worker whose toolsets they are. */
  readonly maker: WorkerMaker;
  /** It can create workers. */
  readonly canCreate: boolean;
}

type ToolsetTarget = ReferenceTarget & { readonly kind: "toolset" };

interface Linked {
  readonly reference: ToolsetReference;
  readonly syntax: ToolsetSyntax;
  readonly toolNames: readonly string[];
}

/** The toolsets of one worker, configured; with the approval plan that its author wrote. Wrong ones are left out. */
export async function linkToolsets(
  references: readonly ResolvedReference[],
  given: Omit<LinkContext, "canCreate">,
): Promise<readonly ToolsetReference[]> {
  const context = { ...given, canCreate: references.some(canCreateWorkers) };
  const all = await Promise.all(references.map((reference) => linkReference(reference, context)));
  const linked = all.filter((one) => one !== undefined);
  checkToolNames(linked, context.compilation);
  return linked.map(({ reference }) => reference);
}

/** Returns true for `dynamic_workers`. */
export function canCreateWorkers({ target }: ResolvedReference): boolean {
  return target.kind === "toolset" && isDynamicWorkers(target.toolset);
}

async function linkReference({ syntax, target }: ResolvedReference, context: LinkContext): Promise<Linked | undefined> {
  if (target.kind === "unverified") {
    noteVariables(context.compilation, syntax);
    return undefined;
  }
  if (target.kind === "toolset") return linkToolset(syntax, target, context);
  const { path, home } = target;
  const name = workerName(path, home.folder);
  const { compilation, workerOf, abilitiesBeyond } = context;
  checkConfigIsEmpty(syntax, compilation);
  const worker = () => workerOf(path);
  const linked = { worker, ...workerToolset({ name, worker, abilitiesBeyond }) };
  return toLinked(syntax, linked, context);
}

async function linkToolset(syntax: ToolsetSyntax, target: ToolsetTarget, context: LinkContext): Promise<Linked | undefined> {
  const { compilation, scope } = context;
  if (!(await checkRequirements(syntax, target.toolset, context))) return undefined;
  if (target.toolset === compilation.builtIns.get("mcp")) checkHeaderKeys(compilation, syntax, context.providers);
  const config = await linkConfig(syntax, target, compilation);
  const toolset = config && (await constructToolset(syntax, target, { compilation, config: config.value }));
  if (!config || !toolset || !(await checkRequirements(syntax, toolset, context))) return undefined;
  const estimate = await toolset.estimate?.(config.value, { folder: compilation.root }).catch(() => undefined);
  const connection = {
    ...(toolset.connect ? { connection: digestOf(syntax, target, context) } : {}),
    ...(estimate ? { estimate } : {}),
  };
  const tools = await listTools(syntax, target, { toolset, config: config.value, scope, compilation });
  if (!tools || (target.code && !(await checkTools(syntax, target, { tools, compilation })))) return undefined;
  const approved = new Set(syntax.approvals?.value.flatMap(({ tool, preApproved }) => (preApproved.value ? [tool.value] : [])));
  const preApproved = tools.map(({ name }) => name).filter((name) => approved.has(name) || approved.has("*"));
  for (const { path, message, isError, isHint } of toolset.warnings?.(config.value, scope, preApproved) ?? []) {
    const span = spanAt(syntax.configSpans, path) ?? syntax.reference.span;
    compilation.diagnostics.report(isError ? "toolset-config" : isHint ? "toolset-hint" : "toolset-warning", {
      message: `\`${syntax.reference.value}\`: ${message}`,
      span,
    });
  }
  for (const tool of tools) warnOfApproval(syntax, { toolset, config: config.value, tool }, context);
  const { networkEnabled } = scope;
  if (isDynamicWorkers(toolset)) return toLinked(syntax, toolset.link(context.maker), context);
  if (target.toolset === skills)
    return toLinked(syntax, await linkSkills(compilation, syntax, config.value as SkillsConfig), context);
  if (target.delegates) return toLinked(syntax, linkDelegation(target.delegates, config.value, context), context);
  const runsPrograms = target.toolset === compilation.builtIns.get("program") || target.code?.path.endsWith(programSuffix);
  const reaches = runsPrograms ? { reachesToolsets: true } : {};
  return toLinked(syntax, { toolset, config: config.value, tools, networkEnabled, ...connection, ...reaches }, context);
}

/** The toolset that a class or factory makes of its configuration; any other one is there already. */
async function constructToolset(
  syntax: ToolsetSyntax,
  target: ToolsetTarget,
  { compilation, config }: { readonly compilation: Compilation; readonly config: unknown },
): Promise<Toolset | undefined> {
  try {
    return target.construct ? await target.construct(config) : target.toolset;
  } catch (thrown) {
    const { message: why, ...place } = await locateThrown(thrown, { syntax, target, compilation });
    const message = `\`${syntax.reference.value}\` does not make a toolset: ${why}`;
    return compilation.diagnostics.report("toolset-not-one", { message, ...place });
  }
}

/** Reports the first of a toolset's tools that cannot be given to a model; true if all can. */
async function checkTools(
  syntax: ToolsetSyntax,
  target: ToolsetTarget,
  { tools, compilation }: { readonly tools: readonly Tool[]; readonly compilation: Compilation },
): Promise<boolean> {
  const problem = await findProblem(syntax.reference.value, tools);
  if (problem) compilation.diagnostics.report(problem.code, { ...problem.details, ...placeOf(syntax, target) });
  return problem === undefined;
}

async function findProblem(toolset: string, tools: readonly Tool[]) {
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (names.includes("")) {
    const details = { message: `a tool of \`${toolset}\` has no name`, note: 'write `tool({ name: "…", … })`' };
    return { code: "tool-name", details } as const;
  }
  if (twice !== undefined) {
    const details = { message: `\`${toolset}\` has two tools \`${twice}\``, note: "give each tool a name of its own" };
    return { code: "tool-name-conflict", details } as const;
  }
  for (const { name, input } of tools) {
    const problem = await jsonSchemaProblem(input.jsonSchema);
    if (problem === undefined) continue;
    return { code: "schema-not-one", details: { message: `the input of \`${name}\` is no JSON Schema: ${problem}` } } as const;
  }
  return undefined;
}

/** Returns the place of a mistake in a toolset: its export, or its key in the worker where no export is known. */
function placeOf({ reference: { span } }: ToolsetSyntax, { code }: ToolsetTarget) {
  if (!code?.exported) return { span, notes: [] };
  return { span: code.exported, notes: [{ message: "it is used here", span }] };
}

interface ThrowingToolset {
  readonly syntax: ToolsetSyntax;
  readonly target: ToolsetTarget;
  readonly compilation: Compilation;
}

/** Returns what a toolset's code threw, with the line that threw it, or the toolset's place. */
async function locateThrown(thrown: unknown, { syntax, target, compilation: { modules } }: ThrowingToolset) {
  const from = syntax.reference.span;
  const located = target.code && (await modules.locate(thrown, { home: target.code.home, from }));
  if (located && located.span !== from) return located;
  return { message: errorMessage(thrown), ...placeOf(syntax, target) };
}

function linkDelegation(delegates: readonly Delegate[], given: unknown, { workerOf, abilitiesBeyond, canCreate }: LinkContext) {
  const written = given as DelegationConfig;
  const locked = delegates.find((delegate) => delegate.written !== undefined && delegate.written === written.lock_worker);
  const config = locked ? { ...written, lock_worker: locked.name } : written;
  const workers = new Map(delegates.map(({ name, path }) => [name, () => workerOf(path)]));
  const linked = delegationToolset({ config, workers, isOpen: canCreate, abilitiesBeyond });
  return { ...linked, delegates: () => new Map([...workers].map(([name, worker]) => [name, worker()])) };
}

/** Warns of a pre-approval that lifts no question, because a rule of the toolset or of a scope asks for every call. */
function warnOfApproval(
  { approvals, reference }: ToolsetSyntax,
  { toolset, config, tool }: { readonly toolset: Toolset; readonly config: unknown; readonly tool: Tool },
  { compilation, scopes }: LinkContext,
): void {
  const entry = approvals?.value.find((one) => one.tool.value === tool.name);
  const outlook = toolset.outlook?.(tool.name, config, scopes) ?? [];
  const isLifted = outlook.some((own) => own.type === "pre-approved" || (own.type === "needs-approval" && own.by === "default"));
  if (!entry?.preApproved.value || outlook.length === 0 || isLifted) return;
  const why = [...new Set(outlook.map((own) => own.why ?? own.type))].join("; ");
  const message = `\`${reference.value}\`: \`pre_approved: true\` of \`${tool.name}\` does nothing: ${why}`;
  compilation.diagnostics.report("approval-without-effect", { message, span: entry.preApproved.span });
}

interface Requirement {
  readonly code: "scopes-required" | "toolset-requirement";
  readonly isMet: (context: LinkContext) => boolean | Promise<boolean>;
  /** Completes `x needs …, and the worker …`. */
  readonly needs: string;
  readonly note?: string;
}

const requirements: Readonly<Record<ToolsetRequirement, Requirement>> = {
  scopes: {
    code: "scopes-required",
    isMet: ({ scope, scopesUnread }) => scope.readable.length > 0 || scopesUnread,
    needs: "a scope, and `{}` has none",
    note: "declare one under `sandbox.paths`, or leave `sandbox` out",
  },
  network: {
    code: "toolset-requirement",
    isMet: ({ scope }) => scope.networkEnabled,
    needs: "the network, and `{}` does not enable it",
    note: "write `sandbox: { network_enabled: true }`",
  },
  "tools.ts": {
    code: "toolset-requirement",
    isMet: async ({ compilation }) => (await compilation.home.names.codeFiles()).length > 0,
    needs: "a `tools.ts`, and the program of `{}` has none",
  },
  // Trust is asked for before a run.
  commands: { code: "toolset-requirement", isMet: () => true, needs: "trust" },
  trust: { code: "toolset-requirement", isMet: () => true, needs: "trust" },
};

/** Reports the first requirement that is not met; true if all are. */
async function checkRequirements({ reference }: ToolsetSyntax, toolset: Toolset, context: LinkContext): Promise<boolean> {
  for (const name of toolset.requires ?? []) {
    const requirement = Object.hasOwn(requirements, name) ? requirements[name] : undefined;
    const { code, needs, note } = requirement ?? { code: "toolset-requirement" as const, needs: `\`${name}\`, which nothing is` };
    if (await requirement?.isMet(context)) continue;
    const message = `\`${reference.value}\` needs ${needs.replace("{}", context.scope.worker)}`;
    context.compilation.diagnostics.report(code, { message, span: reference.span, ...(note === undefined ? {} : { note }) });
    return false;
  }
  return true;
}

/** Digest of what a connection of the run depends on. Variables of the environment count by name, not by value. */
function digestOf(
  { config }: ToolsetSyntax,
  { code }: ToolsetTarget,
  { compilation: { root }, scope: { networkEnabled } }: LinkContext,
): string {
  const origin = code ? relative(root, code.path).replaceAll("\\", "/") : null;
  return sha256(canonicalJson([origin, config.value, networkEnabled])).slice(0, 16);
}

function toLinked(
  syntax: ToolsetSyntax,
  linked: Omit<ToolsetReference, "reference" | "approvals" | "prefix">,
  { compilation, scope }: Pick<LinkContext, "compilation" | "scope">,
): Linked {
  const toolNames = linked.tools.map(({ name }) => name);
  const approvals = linkApprovals(syntax, { toolNames, connects: linked.toolset.connect !== undefined }, compilation);
  const prefix = syntax.prefix ? { prefix: syntax.prefix.value } : {};
  const rules = linked.toolset.rules?.(linked.config, syntax.config.value, scope) ?? [];
  return { reference: { reference: syntax.reference.value, ...linked, approvals, rules, ...prefix }, syntax, toolNames };
}

async function linkConfig(
  syntax: ToolsetSyntax,
  { toolset, code }: ToolsetTarget,
  compilation: Compilation,
): Promise<{ readonly value: unknown } | undefined> {
  if (!toolset.config) return checkConfigIsEmpty(syntax, compilation) ? { value: {} } : undefined;
  // Code can export a built-in toolset as its own.
  const isOfCode = code !== undefined && ![...compilation.builtIns.values()].includes(toolset);
  const isFilled: TextFilter = isOfCode ? () => true : toolset.requires?.includes("trust") ? isServerVariable : () => false;
  warnOfVariables(compilation, syntax, isFilled);
  await toolset.config.settle?.();
  const checked = await toolset.config.validate(expandVariables(compilation, syntax, isFilled));
  if (checked.ok) return { value: checked.value };
  for (const issue of checked.issues) {
    const span = spanAt(syntax.configSpans, issue.path) ?? syntax.reference.span;
    const what = issue.path.length > 0 ? `\`${issue.path.join(".")}\` ${issue.message}` : issue.message;
    const message = `\`${syntax.reference.value}\` does not take this configuration: ${what}`;
    compilation.diagnostics.report("toolset-config", { message, span, note: noteOn(issue.path[0]) });
  }
  return undefined;
}

function checkConfigIsEmpty(syntax: ToolsetSyntax, { diagnostics }: Compilation): boolean {
  const [key] = Object.keys(syntax.config.value);
  if (key === undefined) return true;
  const message = `\`${syntax.reference.value}\` takes no configuration, so \`${key}\` means nothing here`;
  diagnostics.report("toolset-config", {
    message,
    span: syntax.configSpans.get(key) ?? syntax.reference.span,
    note: noteOn(key),
  });
  return false;
}

/** On keys of every toolset that lack their underscore. */
function noteOn(key: unknown): string | undefined {
  if (key === "pre_approved") return 'write `_approval_config: { TOOL: { pre_approved: true } }`, or `"*"` for all of its tools';
  const isOurs = key === "approval_config" || key === "prefix" || key === "use";
  return isOurs ? `every toolset has the key \`_${key}\`, with an underscore` : undefined;
}

interface Listing {
  readonly toolset: Toolset;
  readonly config: unknown;
  readonly scope: ToolsetScope;
  readonly compilation: Compilation;
}

async function listTools(
  syntax: ToolsetSyntax,
  target: ToolsetTarget,
  { toolset, config, scope, compilation }: Listing,
): Promise<readonly Tool[] | undefined> {
  try {
    const tools: readonly Tool[] = toolset.tools(config, scope);
    if (Array.isArray(tools) && tools.every(isTool)) return await settleInputs(tools);
    throw new TypeError("`tools` has to return a list of what `tool({ … })` makes");
  } catch (thrown) {
    const { message: why, ...place } = await locateThrown(thrown, { syntax, target, compilation });
    const message = `\`${syntax.reference.value}\` cannot list its tools: ${why}`;
    return compilation.diagnostics.report("toolset-config", { message, ...place });
  }
}

/** Rejects with a `TypeError` that names the first tool whose schema cannot say its JSON Schema. */
async function settleInputs(tools: readonly Tool[]): Promise<readonly Tool[]> {
  for (const { name, input } of tools) {
    await input.settle?.().catch((thrown: unknown) => {
      throw new TypeError(`the input of \`${name}\` cannot be used: ${errorMessage(thrown)}`);
    });
  }
  return tools;
}

function linkApprovals(
  syntax: ToolsetSyntax,
  { toolNames, connects }: { readonly toolNames: readonly string[]; readonly connects: boolean },
  { diagnostics }: Compilation,
): ReadonlyMap<string, boolean> {
  const entries = syntax.approvals?.value ?? [];
  for (const { tool } of entries) {
    if (tool.value === "*" || toolNames.includes(tool.value)) continue;
    if (connects) {
      const message = `\`${syntax.reference.value}\` finds its tools when it connects, so whether it has \`${tool.value}\` is not known`;
      diagnostics.report("not-verified-unconnected", { message, span: tool.span });
      continue;
    }
    const note = didYouMean(tool.value, toolNames) ?? `its tools: ${quoteNames(toolNames)}`;
    diagnostics.report("approval-unknown-tool", {
      message: `\`${syntax.reference.value}\` has no tool \`${tool.value}\``,
      span: tool.span,
      note,
    });
  }
  return new Map(entries.map(({ tool, preApproved }) => [tool.value, preApproved.value]));
}

function checkToolNames(linked: readonly Linked[], { diagnostics }: Compilation): void {
  const owners = new Map<string, ToolsetSyntax>();
  for (const { syntax, toolNames } of linked) {
    const names = toolNames.map((tool) => toolName(syntax.prefix?.value, tool));
    const { span } = syntax.reference;
    const [wrong] = names.filter((name) => !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name));
    if (wrong !== undefined) diagnostics.report("tool-name", { message: `\`${wrong}\` is no name for a tool`, span });
    if (names.includes(readResultName)) {
      const note = "rename the tool, or give the toolset a `_prefix`";
      const message = `\`${syntax.reference.value}\` offers \`${readResultName}\`, which is a tool of llm-do itself`;
      diagnostics.report("tool-name-conflict", { message, span, note });
    }
    const taken = names.filter((name) => owners.has(name));
    const other = owners.get(taken[0] ?? "");
    if (other) {
      const shown = quoteNames(taken);
      const notes = [
        { message: `\`${other.reference.value}\` offers it too`, span: other.reference.span },
        { message: "give one of them a `_prefix`" },
      ];
      const message = `\`${syntax.reference.value}\` offers a second ${taken.length === 1 ? "tool" : "time the tools"} ${shown}`;
      diagnostics.report("tool-name-conflict", { message, span, notes });
    }
    for (const name of names) owners.set(name, syntax);
  }
}
