import type { Verdict } from "../protocol/approval.ts";
import type { OwnVerdict } from "../toolsets/toolset.ts";
import type { Ruling } from "./rules/approval-rule.ts";

export interface Words {
  /** The toolset's own verdict. */
  readonly own: OwnVerdict | undefined;
  /** Value under `_approval_config` of the worker for the tool. */
  readonly preApproved: boolean | undefined;
  /** Ruling of the run's rules. */
  readonly ruling?: Ruling | undefined;
}

/** The rules' word on one call. Blocked over explicit ask over pre-approved over unstated, which asks. Pure. */
export function judge({ own, preApproved, ruling }: Words): Verdict {
  if (own?.type === "blocked") return { type: "blocked", why: own.why };
  if (ruling?.effect === "block") return { type: "blocked", why: ruling.why };
  if (own?.type === "needs-approval" && own.by === "rule")
    return { type: "ask", why: own.why ?? "a rule of the toolset asks", isUnstated: false };
  if (ruling?.effect === "ask") return { type: "ask", why: ruling.why, isUnstated: false };
  if (preApproved === false) return { type: "ask", why: "`_approval_config` says `pre_approved: false`", isUnstated: false };
  if (own?.type === "pre-approved") return { type: "allowed", why: own.why ?? "the toolset pre-approves it" };
  // What a call asks for beyond what its tool does of itself is no part of what an author pre-approves.
  const isGranted = own?.type === "needs-approval" && own.by === "effects";
  if (preApproved === true && !isGranted) return { type: "allowed", why: "`_approval_config` says `pre_approved: true`" };
  if (ruling?.effect === "allow") return { type: "allowed", why: ruling.why };
  return { type: "ask", why: own?.why ?? "nothing pre-approves it", isUnstated: true };
}
