import { allowLine } from "../../approval/rules/allow-line.ts";
import { concerns, describeRule, type ReadRule, type Ruling, ruleOnCreated } from "../../approval/rules/approval-rule.ts";
import { judge } from "../../approval/verdict.ts";
import type { ScopeDeclaration } from "../../host/scopes/scopes.ts";
import type { ToolsetReference, Worker } from "../../program/program.ts";
import type { OutlinedCallable, OutlinedTool, ToolPlan } from "../../protocol/outline.ts";
import { toolName } from "../../toolsets/tool-name.ts";
import type { OwnVerdict, Tool, Toolset } from "../../toolsets/toolset.ts";

export interface PlanContext {
  readonly scopes: readonly ScopeDeclaration[];
  /** The names that the worker goes by. */
  readonly callers: readonly string[];
  /** Present for a worker that was created in a run. */
  readonly creators?: Worker["creators"];
  readonly rules: readonly ReadRule[];
}

/** The tools of one reference, each with what will happen to its calls as far as that can be told beforehand. */
export function planTools(
  reference: ToolsetReference,
  { scopes, callers, creators, rules }: PlanContext,
): readonly OutlinedTool[] {
  const { toolset, config, prefix, approvals, fromCode } = reference;
  const unverified = unverifiedTools(reference);
  return [...reference.tools, ...unverified].map((tool) => {
    const name = toolName(prefix, tool.name);
    const preApproved = approvals.get(tool.name) ?? approvals.get("*");
    const words = { preApproved, ...rulesOn(name, { callers, creators, rules }, [...(reference.delegates?.().keys() ?? [])]) };
    const outlook = toolset.outlook?.(tool.name, config, scopes);
    const { plan, isUnstated } = withSometimes(planTool({ toolset, tool, outlook }, words), words);
    return {
      name,
      description: tool.description,
      plan,
      ...(preApproved === undefined ? {} : { preApproved }),
      // No file can pre-approve what only code, or the run itself, calls.
      ...(isUnstated && !fromCode ? { allow: allowLine(reference.reference, tool.name) } : {}),
      ...(tool.calls && tool.calls.length > 0 ? { calls: tool.calls } : {}),
      ...(unverified.includes(tool) ? { unverified: true as const } : {}),
    };
  });
}

/** Those that a toolset may have when it is connected: what `_approval_config` names, and `*` for all others. */
function unverifiedTools({ toolset, tools, approvals, reference }: ToolsetReference): readonly PlannedTool[] {
  if (!toolset.connect) return [];
  const named = [...approvals.keys()].filter((name) => name !== "*" && !tools.some((tool) => tool.name === name));
  return [...named, "*"].map((name) => ({ name, description: `known when \`${reference}\` connects` }));
}

/** Plans a callable of code. Only rules for all workers are known to apply to it. */
export function planCallable(callable: ToolsetReference, rules: readonly ReadRule[]): readonly OutlinedCallable[] {
  return planTools(callable, { scopes: [], callers: ["*"], rules }).map(({ description: _, ...planned }) => planned);
}

interface Planned {
  readonly plan: ToolPlan;
  /** Something of it asks because nobody says otherwise, so that a line of configuration would allow it. */
  readonly isUnstated: boolean;
}

/** Statements about a tool from outside of its toolset. */
interface Words {
  readonly preApproved: boolean | undefined;
  /** The ruling of rules that ignore the arguments. */
  readonly ruling: Ruling | undefined;
  /** Rules that look at the arguments. */
  readonly sometimes: readonly ReadRule[];
}

/** Rules that speak of a worker which the tool can call concern some of its calls. */
function rulesOn(
  tool: string,
  { callers, creators = [], rules }: Omit<PlanContext, "scopes">,
  delegates: readonly string[] = [],
): Omit<Words, "preApproved"> {
  const workers = [...callers, ...creators.flat()];
  const concerning = rules.filter(({ pattern }) => concerns(pattern, { workers, tool }));
  const always = concerning.filter(({ pattern }) => pattern.args.length === 0);
  const ruling = ruleOnCreated(always, creators, { workers: callers, tool, args: new Map(), first: [] });
  const named = rules.filter(({ pattern }) => delegates.some((name) => concerns(pattern, { workers, tool: name })));
  return { ruling, sometimes: [...new Set([...concerning, ...named])].filter((rule) => !always.includes(rule)) };
}

type PlannedTool = Pick<Tool, "name" | "description" | "approval" | "calls">;

interface JudgedTool {
  readonly toolset: Toolset;
  readonly tool: PlannedTool;
  /** The verdicts that the toolset can come to. */
  readonly outlook?: readonly OwnVerdict[] | undefined;
}

function planTool({ toolset, tool, outlook }: JudgedTool, words: Words): Planned {
  if (outlook && outlook.length > 0) return planOf(outlook, words);
  if (toolset.needsApproval) {
    return { plan: planByToolset(words), isUnstated: words.preApproved === undefined && words.ruling === undefined };
  }
  if (tool.approval === "pre-approved") return planOf([{ type: "pre-approved", why: "its author pre-approves it" }], words);
  return planOf([tool.approval === "ask" ? { type: "needs-approval", by: "default" } : undefined], words);
}

/** One plan where all verdicts agree; otherwise each of them, with its reason. */
function planOf(owns: readonly (OwnVerdict | undefined)[], words: Words): Planned {
  const verdicts = owns.map((own) => judge({ own, ...words }));
  const isUnstated = verdicts.some((verdict) => verdict.type === "ask" && verdict.isUnstated);
  const plans = verdicts.map(({ type, why }) => ({ verdict: type === "ask" ? ("asks" as const) : type, why }));
  const [first, ...others] = plans;
  if (first && others.every(({ verdict }) => verdict === first.verdict))
    return { plan: { verdict: first.verdict, why: [...new Set(plans.map(({ why }) => why))].join("; ") }, isUnstated };
  const reasons = [...new Set(plans.map(({ verdict, why }) => `${verdict}: ${why}`))];
  return { plan: { verdict: "depends", why: reasons.join("; ") }, isUnstated };
}

/** Combines rules and `_approval_config` with a verdict that is only known for each call. */
function planByToolset({ preApproved, ruling }: Words): ToolPlan {
  if (ruling?.effect === "block") return { verdict: "blocked", why: ruling.why };
  if (ruling?.effect === "ask") return { verdict: "depends", why: `${ruling.why}, unless the toolset blocks it` };
  if (preApproved === true) return { verdict: "depends", why: "pre-approved, unless a rule of the toolset asks or blocks" };
  if (preApproved === false) return { verdict: "depends", why: "asks, unless the toolset blocks it" };
  if (ruling) return { verdict: "depends", why: `${ruling.why}, unless a rule of the toolset asks or blocks` };
  return { verdict: "depends", why: "the toolset judges each call" };
}

/** Rules that look at the arguments may say otherwise of some calls. */
function withSometimes({ plan, isUnstated }: Planned, { sometimes }: Words): Planned {
  if (sometimes.length === 0 || plan.verdict === "blocked") return { plan, isUnstated };
  const first = plan.verdict === "depends" ? plan.why : `${plan.verdict}: ${plan.why}`;
  return { plan: { verdict: "depends", why: [first, ...sometimes.map(describeRule)].join("; ") }, isUnstated };
}
