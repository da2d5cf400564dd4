import { blocked, needsApproval, type OwnVerdict, preApproved } from "../../toolset.ts";

/**
 * Why a command is not simply run. `rule`: somebody wrote it, or it is something that no pre-approval lifts. `default`: a
 * general caution. `uncovered` blocks too, where nothing else covers the command.
 */
export interface Reason {
  readonly level: "blocked" | "uncovered" | "rule" | "default";
  readonly why: string;
  /** Digest of what the reason rests on, where `why` does not say it all: an approval for the run is of this one. */
  readonly basis?: string;
}

export function asks(why: string): Reason {
  return { level: "rule", why };
}

const mostShown = 4;

/** The strictest reason decides; all of its level are told. */
export function toVerdict(reasons: readonly Reason[], allowedBy: readonly string[]): OwnVerdict {
  const blocking = reasons.filter(({ level }) => level === "blocked" || level === "uncovered");
  if (blocking.length > 0) return blocked(tell(blocking));
  const asking = reasons.filter(({ level }) => level === "rule");
  if (asking.length > 0) return needsApproval(tell([...asking, ...reasons.filter(({ level }) => level === "default")]), "rule");
  if (reasons.length > 0) return needsApproval(tell(reasons), "default");
  const rules = [...new Set(allowedBy)].map((pattern) => `\`${pattern}\``);
  return preApproved(
    rules.length === 0
      ? "the default allows it"
      : `allowed by ${rules.length === 1 ? "the rule" : "the rules"} ${rules.join(", ")}`,
  );
}

function tell(reasons: readonly Reason[]): string {
  const all = [...new Set(reasons.map(({ why }) => why))];
  const more = all.length > mostShown ? `; and ${all.length - mostShown} more` : "";
  return `${all.slice(0, mostShown).join("; ")}${more}`;
}
