import type { ScopeDeclaration } from "../../../host/scopes.ts";
import type { OwnVerdict, RuleText } from "../../toolset.ts";
import type { ShellConfig } from "../config.ts";
import type { ShellPlan } from "../parse/plan.ts";
import { judgePlan } from "./judge-command.ts";
import type { PathTable } from "./path-table.ts";
import { asks, each, type Reason, toVerdict } from "./reasons.ts";

/** Basis of a verdict besides the rules: all of it was found out while the call was prepared. */
export interface JudgedCall {
  readonly plan: ShellPlan;
  readonly table: PathTable;
  readonly home: ScopeDeclaration | undefined;
  /** Why the command is not isolated. Undefined behind a kernel wall. */
  readonly notIsolated: string | undefined;
  /** The caller of the run accepts that. */
  readonly unisolated: boolean;
  /** Other reasons to ask, such as the folder that it runs in. */
  readonly reasons: readonly Reason[];
}

export interface Judgement {
  readonly verdict: OwnVerdict;
  /** It asks for what the command is, whatever is pre-approved: an approver looks at what runs, and not just at where. */
  readonly asksByRule: boolean;
  /** Protected names that the command may use where it runs: a person was asked, or a rule spells it out. */
  readonly opens: readonly string[];
  /** Programs that it starts, each with its arguments, as far as that was read. */
  readonly started: readonly RuleText[];
  /** Tells a model what it can do instead where the call is denied. */
  readonly hint?: string;
}

const apart = "run its commands apart, each in a call of its own: the rules allow them so";

/** Pure: the rules, the command as it was read, and what was found on disk. */
export function judgeCall(config: ShellConfig, call: JudgedCall): Judgement {
  const findings = judgePlan({ config, table: call.table, home: call.home }, call.plan);
  const reasons = [...call.reasons, ...each(findings, "reason")];
  const opens = new Set(each(findings, "opens"));
  const strangers = new Set(each(findings, "stranger"));
  const isMixed = reasons.every(({ level }) => level === "default") && opens.size > 0 && strangers.size > 0;
  if (isMixed) {
    reasons.push(asks(`${[...opens].join(", ")} would be open to ${[...strangers].join(", ")} too; run them apart`));
  }
  const isRead = call.plan.argv !== undefined || call.plan.script !== undefined;
  if (reasons.length === 0 && !isRead) reasons.push(asks("it runs as it stands, and not as it was read"));
  const withoutWall = toVerdict(reasons, []);
  const asksByRule = withoutWall.type === "needs-approval" && withoutWall.by === "rule";
  if (call.notIsolated !== undefined && !call.unisolated && !asksByRule) {
    reasons.push(asks("commands are not isolated on this machine, so what the rules allow asks; --unisolated lifts that"));
  }
  const opened = asksByRule ? [...opens, ...each(findings, "opensIfAsked")] : [...opens];
  return {
    verdict: toVerdict(reasons, each(findings, "allowedBy")),
    asksByRule,
    opens: [...new Set(opened)].sort(),
    started: [...new Map(each(findings, "started").map((text) => [JSON.stringify(text), text])).values()],
    ...(isMixed ? { hint: apart } : {}),
  };
}
