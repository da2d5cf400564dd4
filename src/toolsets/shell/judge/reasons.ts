import { blocked, needsApproval, type OwnVerdict, preApproved } from "../../toolset.ts";

/**
 * Why a command is not simply run. `rule`: an author wrote it. `effects`: no rule gives what it asks for; a rule of the run that names it
 * lifts that. `default`: a general caution. `uncovered` blocks too, where nothing else covers the command.
 */
export interface Reason {
  readonly level: "blocked" | "uncovered" | "rule" | "effects" | "default";
  readonly why: string;
}

const mostShown = 4;

/** The strictest reason decides, and all of its level are shown. `allowedBy`: patterns of rules. */
export function toVerdict(reasons: readonly Reason[], allowedBy: readonly string[]): OwnVerdict {
  const of = (...levels: Reason["level"][]) => reasons.filter(({ level }) => levels.includes(level));
  const blocking = of("blocked", "uncovered");
  if (blocking.length > 0) return blocked(render(blocking));
  const strictest = (["rule", "effects", "default"] as const).find((level) => of(level).length > 0);
  if (strictest !== undefined) {
    return needsApproval(render([...of(strictest), ...reasons.filter(({ level }) => level !== strictest)]), strictest);
  }
  const rules = [...new Set(allowedBy)].map((pattern) => `\`${pattern}\``);
  if (rules.length === 0) return preApproved("it only looks, and looks are allowed");
  return preApproved(`allowed by ${rules.length === 1 ? "the rule" : "the rules"} ${rules.join(", ")}`);
}

function render(reasons: readonly Reason[]): string {
  const all = [...new Set(reasons.map(({ why }) => why))];
  const more = all.length > mostShown ? `; and ${all.length - mostShown} more` : "";
  return `${all.slice(0, mostShown).join("; ")}${more}`;
}
