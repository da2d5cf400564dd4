import type { JsonObject } from "../../protocol/json.ts";
import type { Narrowed } from "../../toolsets/toolset.ts";
import { offer, type Refuse, type ToolsetCapability, type ToolsetWish } from "./capability.ts";

/** Narrows the configuration of a creator's toolset, by its reference. */
export type Narrow = (
  reference: string,
  configs: { readonly own: JsonObject; readonly wish: JsonObject; readonly scopes: readonly string[] },
) => Narrowed;

interface Attenuating {
  readonly own: ToolsetCapability;
  readonly wish: ToolsetWish;
  readonly narrow: Narrow;
  readonly refuse: Refuse;
  /** Those of the created worker. */
  readonly scopes: readonly string[];
}

/** The creator's toolset with a configuration that lets no more through. Only what the creator pre-approves can be pre-approved. */
export function attenuateToolset(reference: string, { own, wish, narrow, refuse, scopes }: Attenuating): ToolsetCapability {
  const narrowed = narrow(reference, { own: own.config, wish: wish.config, scopes });
  if (!narrowed.ok) refuse(`\`toolsets.${reference}\`: ${narrowed.why}`);
  return {
    config: narrowed.ok ? narrowed.config : own.config,
    approvals: attenuateApprovals(reference, { own: own.approvals, wish: wish.approvals ?? {}, refuse }),
  };
}

interface Approving {
  readonly own: ToolsetCapability["approvals"];
  readonly wish: ToolsetCapability["approvals"];
  readonly refuse: Refuse;
}

/** Keeps asking for what the creator's author makes ask: code may pre-approve its tools itself. */
function attenuateApprovals(reference: string, { own, wish, refuse }: Approving): ToolsetCapability["approvals"] {
  const asking = Object.entries(own).filter(([, preApproved]) => !preApproved);
  const approvals = new Map<string, boolean>(asking);
  for (const [tool, preApproved] of Object.entries(wish)) {
    const known = (Object.hasOwn(own, tool) ? own[tool] : undefined) ?? own["*"];
    if (preApproved && known !== true) {
      const had = Object.keys(own).filter((name) => own[name]);
      const offered = had.length === 0 ? "leave it out" : offer(had);
      refuse(`\`toolsets.${reference}._approval_config\`: the creator's calls of \`${tool}\` are not pre-approved; ${offered}`);
    } else approvals.set(tool, preApproved);
  }
  return Object.fromEntries(approvals);
}
