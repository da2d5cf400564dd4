import { concerns, describeRule, type ReadRule, type Ruling, ruleOn } from "../approval/approval-rule.ts";
import { judge } from "../approval/verdict.ts";
import type { ScopeDeclaration } from "../host/scopes.ts";
import type { ToolsetReference } from "../program/program.ts";
import type { OutlinedTool, ToolPlan } from "../protocol/outline.ts";
import { toolName } from "../toolsets/tool-name.ts";
import type { OwnVerdict, Tool, Toolset } from "../toolsets/toolset.ts";

export interface PlanContext {
  readonly scopes: readonly ScopeDeclaration[];
  /** The names that the worker goes by. */
  readonly callers: readonly string[];
  readonly rules: readonly ReadRule[];
}

/** The tools of one reference, each with what will happen to its calls as far as that can be told beforehand. */
export function planTools(reference: ToolsetReference, { scopes, callers, rules }: PlanContext): readonly OutlinedTool[] {
  const wordsOn = (name: string, preApproved: boolean | undefined): Words => {
    const concerning = rules.filter(({ pattern }) => concerns(pattern, { workers: callers, tool: name }));
    const always = concerning.filter(({ pattern }) => pattern.args.length === 0);
    const ruling = ruleOn(always, { workers: callers, tool: name, args: new Map() });
    return { preApproved, ruling, sometimes: concerning.filter((rule) => !always.includes(rule)) };
  };
  if (reference.kind === "worker") {
    const { name: plain, description } = reference.worker();
    const name = toolName(reference.prefix, plain);
    const own: OwnVerdict = { type: "needs-approval", by: "default", why: "a call to a worker asks unless it is pre-approved" };
    const words = wordsOn(name, preApproval(reference.approvals, plain));
    return [{ name, description, plan: withSometimes(planOf(own, words), words) }];
  }
  const { toolset, tools, config, approvals, prefix } = reference.binding;
  return tools.map((tool) => {
    const name = toolName(prefix, tool.name);
    const words = wordsOn(name, preApproval(approvals, tool.name));
    const plan = planTool(toolset, tool, { ...words, outlook: toolset.outlook?.(tool.name, config, scopes) });
    const calls = tool.calls ? { calls: tool.calls } : {};
    return { name, description: tool.description, plan: withSometimes(plan, words), ...calls };
  });
}

function preApproval(approvals: ReadonlyMap<string, boolean>, tool: string): boolean | undefined {
  return approvals.get(tool) ?? approvals.get("*");
}

/** What others than the toolset say of a tool. */
interface Words {
  readonly preApproved: boolean | undefined;
  /** Of the rules that hold whatever the arguments. */
  readonly ruling: Ruling | undefined;
  /** Rules that look at the arguments. */
  readonly sometimes: readonly ReadRule[];
}

/** `outlook`: the verdicts that the toolset can come to. */
function planTool(
  toolset: Toolset,
  tool: Tool,
  words: Words & { readonly outlook: readonly OwnVerdict[] | undefined },
): ToolPlan {
  const { outlook } = words;
  if (outlook && outlook.length > 0) return planOfAll(outlook.map((own) => planOf(own, words)));
  if (toolset.needsApproval) return planByToolset(words);
  if (tool.approval === "pre-approved") return planOf({ type: "pre-approved", why: "its author pre-approves it" }, words);
  return planOf(tool.approval === "ask" ? { type: "needs-approval", by: "default" } : undefined, words);
}

function planOf(own: OwnVerdict | undefined, words: Words): ToolPlan {
  const { type, why } = judge({ own, ...words });
  return { verdict: type === "ask" ? "asks" : type, why };
}

/** One plan where all agree; otherwise each of them, with its reason. */
function planOfAll(plans: readonly ToolPlan[]): ToolPlan {
  const reasons = [...new Set(plans.map(({ verdict, why }) => `${verdict}: ${why}`))];
  const [first, ...others] = plans;
  if (first && others.every(({ verdict }) => verdict === first.verdict))
    return { verdict: first.verdict, why: [...new Set(plans.map(({ why }) => why))].join("; ") };
  return { verdict: "depends", why: reasons.join("; ") };
}

/** What rules and `_approval_config` make of a verdict that comes with each call. */
function planByToolset({ preApproved, ruling }: Words): ToolPlan {
  if (ruling?.effect === "block") return { verdict: "blocked", why: ruling.why };
  if (ruling?.effect === "ask") return { verdict: "depends", why: `${ruling.why}, unless the toolset blocks it` };
  if (preApproved === true) return { verdict: "depends", why: "pre-approved, unless a rule of the toolset asks or blocks" };
  if (preApproved === false) return { verdict: "depends", why: "asks, unless the toolset blocks it" };
  if (ruling) return { verdict: "depends", why: `${ruling.why}, unless a rule of the toolset asks or blocks` };
  return { verdict: "depends", why: "the toolset judges each call" };
}

/** Rules that look at the arguments may say otherwise of some calls. */
function withSometimes(plan: ToolPlan, { sometimes }: Words): ToolPlan {
  if (sometimes.length === 0 || plan.verdict === "blocked") return plan;
  const first = plan.verdict === "depends" ? plan.why : `${plan.verdict}: ${plan.why}`;
  return { verdict: "depends", why: [first, ...sometimes.map(describeRule)].join("; ") };
}
