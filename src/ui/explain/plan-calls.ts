import type { OutlinedTool, OutlinedToolset, OutlinedWorker, ToolPlan } from "../../protocol/outline.ts";

/** Tools of one reference to whose calls the same happens, for the same reason. */
export interface PlannedCalls {
  readonly tools: readonly OutlinedTool[];
  readonly plan: PlannedVerdict;
}

export interface PlannedVerdict {
  readonly verdict: ToolPlan["verdict"] | "unverified";
  readonly why: string;
}

/** What will happen to calls of a worker's tools. Tools whose code calls others stand alone. */
export function planCalls(toolset: OutlinedToolset, worker: OutlinedWorker): PlannedCalls[] {
  const { reference, tools, kind } = toolset;
  if (kind === "unverified") {
    const unseen = { name: reference, description: "", plan: { verdict: "depends", why: "" } } as const;
    return [{ tools: [unseen], plan: { verdict: "unverified", why: "its code was not looked at" } }];
  }
  const planOf = isFilesystem(toolset) ? planFileTool : ({ plan }: OutlinedTool) => plan;
  const groups = new Map<string, { readonly tools: OutlinedTool[]; readonly plan: PlannedVerdict }>();
  for (const tool of tools) {
    const plan = planOf(tool, worker);
    const key = tool.calls ? `of ${tool.name}` : `${plan.verdict} ${plan.why}`;
    const group = groups.get(key) ?? { tools: [], plan };
    group.tools.push(tool);
    groups.set(key, group);
  }
  return [...groups.values()];
}

const readingTool = /(?:^|_)(?:read_file|list_files|search_files)$/;
const writingTool = /(?:^|_)(?:write_file|append_file|edit_file)$/;

/** Built-in, and all of its tools are those of `filesystem`, whatever it is called here. */
function isFilesystem({ kind, tools }: OutlinedToolset): boolean {
  return kind === "built-in" && tools.length > 0 && tools.every(({ name }) => readingTool.test(name) || writingTool.test(name));
}

/**
 * The file tools judge each call by its scope, and scopes are known beforehand. Where they differ, the verdict stays open,
 * and the reason names those that ask.
 */
function planFileTool({ name, plan }: OutlinedTool, { scopes }: OutlinedWorker): ToolPlan {
  if (plan.verdict !== "depends" || plan.why.startsWith("asks")) return plan;
  const writes = writingTool.test(name);
  const reached = writes ? scopes.filter(({ mode }) => mode === "rw") : scopes;
  if (reached.length === 0) return plan;
  if (writes && plan.why.startsWith("pre-approved")) return plan;
  const asks = (scope: (typeof scopes)[number]) =>
    (writes && scope.writeApproval) || (scope.readApproval && !/(?:write|append)_file$/.test(name));
  const asking = reached.filter(asks).map((scope) => scope.name);
  if (asking.length === 0)
    return { verdict: "allowed", why: writes ? "its scope says `write_approval: false`" : "reads do not ask" };
  if (asking.length < reached.length) return { verdict: "depends", why: `asks in ${asking.join(", ")}` };
  if (!writes) return { verdict: "asks", why: "its scope says `read_approval: true`" };
  return { verdict: "asks", why: "writes ask unless their scope says otherwise" };
}
