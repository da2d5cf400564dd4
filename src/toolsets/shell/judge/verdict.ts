import type { OwnVerdict } from "../../toolset.ts";
import type { ShellConfig } from "../config.ts";
import type { ShellPlan } from "../parse/plan.ts";
import { judgePlan } from "./judge-command.ts";
import type { PathTable } from "./path-table.ts";
import { type Reason, toVerdict } from "./reasons.ts";

/** What a verdict rests on besides the rules: all of it was found out while the call was prepared. */
export interface JudgedCall {
  readonly plan: ShellPlan;
  readonly table: PathTable;
  /** Why nothing keeps the command in its place; undefined where a kernel wall does. */
  readonly notIsolated: string | undefined;
  /** What else asks: the folder that it runs in. */
  readonly reasons: readonly Reason[];
}

/** Pure: the rules, the command as it was read, and what was found on disk. */
export function judgeCall(config: ShellConfig, call: JudgedCall): OwnVerdict {
  const allowedBy = new Set<string>();
  const reasons = [...call.reasons, ...judgePlan({ config, table: call.table, allowedBy, depth: 0 }, call.plan)];
  const isAllowed = reasons.length === 0 && call.plan.argv === undefined && call.plan.script === undefined;
  if (isAllowed) reasons.push({ level: "rule", why: "it runs as it stands, and not as it was read" });
  if (reasons.length === 0 && call.notIsolated !== undefined) {
    reasons.push({ level: "default", why: "commands are not isolated on this machine, so what the rules allow asks" });
  }
  return toVerdict(reasons, [...allowedBy]);
}
