import type { DeniedCall } from "../../protocol/approval.ts";
import type { FactKey } from "../../protocol/fact.ts";
import { type GateRun, PolicyStop } from "../gate-types.ts";
import type { PendingCall } from "../pending-call.ts";
import type { SettledQuestion } from "./decide.ts";

interface DecisionToRecord extends FactKey, SettledQuestion {
  /** The name of what was decided about. */
  readonly tool: string;
  /** Describes the call for the list of denied ones. Absent if a denial is none of a call. */
  readonly describeDenial?: () => DeniedCall;
  readonly endsRun: boolean;
}

/**
 * Records and emits how a question was settled. A decision that ends the run ends it in the same moment, before the next question comes up.
 * That is part of the fact: a decision that is taken from a record ends the run if it did, whatever the policy says by now.
 */
export function recordDecision(run: GateRun, { request: { name, runtime } }: PendingCall, settled: DecisionToRecord): void {
  const { callPath, key, tool, decision, source, memory, remembered, allowed, describeDenial, endsRun } = settled;
  const recorded = run.effects.recall("decision", { callPath, key });
  const denied = decision.type === "approve" ? undefined : recorded ? recorded.denied : describeDenial?.();
  const stops = recorded ? recorded.stops === true : endsRun;
  const more = {
    ...(memory === undefined ? {} : { memory }),
    ...(remembered ? { remembered } : {}),
    ...(allowed ? { allowed } : {}),
    ...(denied ? { denied } : {}),
    ...(stops ? { stops } : {}),
  };
  run.effects.record({ type: "decision", callPath, key, tool, decision, source, ...more });
  run.emit(runtime, { type: "approval-decision", tool, decision, source, ...(stops ? { stops } : {}) });
  const note = decision.note ? `: ${decision.note}` : "";
  if (stops) run.stop(new PolicyStop(`\`${name}\` was denied${note}, and the run stops for it`));
}
