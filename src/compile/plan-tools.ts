import { judge } from "../approval/verdict.ts";
import type { ToolsetReference } from "../program/program.ts";
import type { OutlinedTool, ToolPlan } from "../protocol/outline.ts";
import type { OwnVerdict, Tool, Toolset } from "../toolsets/toolset.ts";

/** The tools of one reference, each with what will happen to its calls as far as that can be told beforehand. */
export function planTools(reference: ToolsetReference): readonly OutlinedTool[] {
  if (reference.kind === "worker") {
    const { name, description } = reference.worker();
    const own: OwnVerdict = { type: "needs-approval", by: "default", why: "a call to a worker asks unless it is pre-approved" };
    return [{ name: prefixed(reference.prefix, name), description, plan: planOf(own, preApproval(reference.approvals, name)) }];
  }
  const { toolset, tools, approvals, prefix } = reference.binding;
  return tools.map((tool) => ({
    name: prefixed(prefix, tool.name),
    description: tool.description,
    plan: planTool(toolset, tool, preApproval(approvals, tool.name)),
    ...(tool.calls ? { calls: tool.calls } : {}),
  }));
}

function preApproval(approvals: ReadonlyMap<string, boolean>, tool: string): boolean | undefined {
  return approvals.get(tool) ?? approvals.get("*");
}

function prefixed(prefix: string | undefined, name: string): string {
  return prefix ? `${prefix}_${name}` : name;
}

function planTool(toolset: Toolset, tool: Tool, preApproved: boolean | undefined): ToolPlan {
  if (toolset.needsApproval) return planByToolset(preApproved);
  if (tool.approval === "pre-approved") return planOf({ type: "pre-approved", why: "its author pre-approves it" }, preApproved);
  return planOf(tool.approval === "ask" ? { type: "needs-approval", by: "default" } : undefined, preApproved);
}

function planOf(own: OwnVerdict | undefined, preApproved: boolean | undefined): ToolPlan {
  const { type, why } = judge(own, preApproved);
  return { verdict: type === "ask" ? "asks" : type, why };
}

/** What `_approval_config` makes of a verdict that comes with each call. */
function planByToolset(preApproved: boolean | undefined): ToolPlan {
  if (preApproved === true) return { verdict: "depends", why: "pre-approved, unless a rule of the toolset asks or blocks" };
  if (preApproved === false) return { verdict: "depends", why: "asks, unless the toolset blocks it" };
  return { verdict: "depends", why: "the toolset judges each call" };
}
