import type { OutlinedTool, OutlinedToolset, ToolPlan } from "../../protocol/outline.ts";

/** Tools of one reference whose calls have the same plan. */
export interface PlannedCalls {
  readonly tools: readonly OutlinedTool[];
  readonly plan: PlannedVerdict;
}

export interface PlannedVerdict {
  readonly verdict: ToolPlan["verdict"] | "unverified";
  readonly why: string;
}

/** Groups the tools of a toolset by the plan of their calls. Tools whose code calls others stand alone. */
export function planCalls({ reference, tools, kind }: OutlinedToolset): PlannedCalls[] {
  if (kind === "unverified") {
    const unseen = { name: reference, description: "", plan: { verdict: "depends", why: "" } } as const;
    return [{ tools: [unseen], plan: { verdict: "unverified", why: "its code was not looked at" } }];
  }
  const groups = new Map<string, { readonly tools: OutlinedTool[]; readonly plan: PlannedVerdict }>();
  for (const tool of tools) {
    const { plan } = tool;
    const key = tool.calls ? `of ${tool.name}` : `${plan.verdict} ${plan.why}`;
    const group = groups.get(key) ?? { tools: [], plan };
    group.tools.push(tool);
    groups.set(key, group);
  }
  return [...groups.values()];
}
