import { blocked, needsApproval, type OwnVerdict, preApproved, type RuleText } from "../../toolset.ts";

/**
 * Why a command is not simply run. `rule`: an author wrote it, or no pre-approval lifts it. `default`: a general caution. `uncovered`
 * blocks too, where nothing else covers the command.
 */
export interface Reason {
  readonly level: "blocked" | "uncovered" | "rule" | "default";
  readonly why: string;
  /** Digest of what the reason rests on, where `why` does not say it all: an approval for the run is of this one. */
  readonly basis?: string;
}

/** One thing that was found out about a part of a line. */
export interface Finding {
  readonly reason?: Reason;
  /** A pattern of a rule that allowed the part. */
  readonly allowedBy?: string;
  /** A program that it starts, with its arguments, as one would write it; or what it may start. */
  readonly started?: RuleText;
  /** A protected name that it needs: a person is asked, or a rule spells out what writes it. */
  readonly opens?: string;
  /** One that is opened only where a person is asked, whatever is pre-approved. */
  readonly opensIfAsked?: string;
  /** A program that could write such names too, once they are open. */
  readonly stranger?: string;
}

/** All that was found of one kind. */
export function each<Kind extends keyof Finding>(findings: readonly Finding[], kind: Kind): NonNullable<Finding[Kind]>[] {
  return findings.flatMap((finding) => finding[kind] ?? []);
}

export function asks(why: string): Reason {
  return { level: "rule", why };
}

export function askFor(why: string): Finding {
  return { reason: asks(why) };
}

const mostShown = 4;

/** The strictest reason decides, and all of its level are shown. */
export function toVerdict(reasons: readonly Reason[], allowedBy: readonly string[]): OwnVerdict {
  const blocking = reasons.filter(({ level }) => level === "blocked" || level === "uncovered");
  if (blocking.length > 0) return blocked(render(blocking));
  const asking = reasons.filter(({ level }) => level === "rule");
  if (asking.length > 0) return needsApproval(render([...asking, ...reasons.filter(({ level }) => level === "default")]), "rule");
  if (reasons.length > 0) return needsApproval(render(reasons), "default");
  const rules = [...new Set(allowedBy)].map((pattern) => `\`${pattern}\``);
  if (rules.length === 0) return preApproved("the default allows it");
  return preApproved(`allowed by ${rules.length === 1 ? "the rule" : "the rules"} ${rules.join(", ")}`);
}

function render(reasons: readonly Reason[]): string {
  const all = [...new Set(reasons.map(({ why }) => why))];
  const more = all.length > mostShown ? `; and ${all.length - mostShown} more` : "";
  return `${all.slice(0, mostShown).join("; ")}${more}`;
}
