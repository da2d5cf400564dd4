import type { Verdict } from "../protocol/approval.ts";
import type { OwnVerdict } from "../toolsets/toolset.ts";

/**
 * The rules' word on one call, from the toolset's own verdict and what the worker's author wrote under
 * `_approval_config` for the tool. Blocked over explicit ask over pre-approved over unstated, which asks. Pure.
 */
export function judge(own: OwnVerdict | undefined, preApproved: boolean | undefined): Verdict {
  if (own?.type === "blocked") return { type: "blocked", why: own.why };
  if (own?.type === "needs-approval" && own.by === "rule")
    return { type: "ask", why: own.why ?? "a rule of the toolset asks", isUnstated: false };
  if (preApproved === false) return { type: "ask", why: "`_approval_config` says `pre_approved: false`", isUnstated: false };
  if (own?.type === "pre-approved") return { type: "allowed", why: own.why ?? "the toolset pre-approves it" };
  if (preApproved === true) return { type: "allowed", why: "`_approval_config` says `pre_approved: true`" };
  return { type: "ask", why: own?.why ?? "nothing pre-approves it", isUnstated: true };
}
