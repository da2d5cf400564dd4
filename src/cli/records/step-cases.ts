import { type CaseChoice, readStepCases as readCasesIn, type StepCases } from "../../boundary/step-cases.ts";
import type { Host } from "../../host/host.ts";
import { programOfTarget, storeOfUser } from "./find-runs.ts";

/** The cases that a command is about. */
export function readStepCases(
  { host, step, target }: { readonly host: Host; readonly step: string; readonly target: string | undefined },
  choice: CaseChoice,
): Promise<StepCases> {
  return readCasesIn({ host, step, store: storeOfUser(), program: () => programOfTarget(target) }, choice);
}
