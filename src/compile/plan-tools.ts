import { judge } from "../approval/verdict.ts";
import type { ScopeDeclaration } from "../host/scopes.ts";
import type { ToolsetReference } from "../program/program.ts";
import type { OutlinedTool, ToolPlan } from "../protocol/outline.ts";
import { toolName } from "../toolsets/tool-name.ts";
import type { OwnVerdict, Tool, Toolset } from "../toolsets/toolset.ts";

/** The tools of one reference, each with what will happen to its calls as far as that can be told beforehand. */
export function planTools(reference: ToolsetReference, scopes: readonly ScopeDeclaration[]): readonly OutlinedTool[] {
  if (reference.kind === "worker") {
    const { name, description } = reference.worker();
    const own: OwnVerdict = { type: "needs-approval", by: "default", why: "a call to a worker asks unless it is pre-approved" };
    return [{ name: toolName(reference.prefix, name), description, plan: planOf(own, preApproval(reference.approvals, name)) }];
  }
  const { toolset, tools, config, approvals, prefix } = reference.binding;
  const outlook = (tool: Tool) => toolset.outlook?.(tool.name, config, scopes);
  return tools.map((tool) => ({
    name: toolName(prefix, tool.name),
    description: tool.description,
    plan: planTool(toolset, tool, { outlook: outlook(tool), preApproved: preApproval(approvals, tool.name) }),
    ...(tool.calls ? { calls: tool.calls } : {}),
  }));
}

function preApproval(approvals: ReadonlyMap<string, boolean>, tool: string): boolean | undefined {
  return approvals.get(tool) ?? approvals.get("*");
}

interface Words {
  /** The verdicts that the toolset can come to. */
  readonly outlook: readonly OwnVerdict[] | undefined;
  readonly preApproved: boolean | undefined;
}

function planTool(toolset: Toolset, tool: Tool, { outlook, preApproved }: Words): ToolPlan {
  if (outlook && outlook.length > 0) return planOfAll(outlook.map((own) => planOf(own, preApproved)));
  if (toolset.needsApproval) return planByToolset(preApproved);
  if (tool.approval === "pre-approved") return planOf({ type: "pre-approved", why: "its author pre-approves it" }, preApproved);
  return planOf(tool.approval === "ask" ? { type: "needs-approval", by: "default" } : undefined, preApproved);
}

function planOf(own: OwnVerdict | undefined, preApproved: boolean | undefined): ToolPlan {
  const { type, why } = judge(own, preApproved);
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

/** What `_approval_config` makes of a verdict that comes with each call. */
function planByToolset(preApproved: boolean | undefined): ToolPlan {
  if (preApproved === true) return { verdict: "depends", why: "pre-approved, unless a rule of the toolset asks or blocks" };
  if (preApproved === false) return { verdict: "depends", why: "asks, unless the toolset blocks it" };
  return { verdict: "depends", why: "the toolset judges each call" };
}
