import { factsBefore, type SharingPoint } from "../effects/fork-point.ts";
import { voidsOf } from "../effects/voids.ts";
import type { Host } from "../host/host.ts";
import type { Program } from "../program/program.ts";
import type { Fact, FactOf } from "../protocol/fact.ts";
import { version } from "../version.ts";
import { startFor } from "./resume.ts";

/** The part of a recorded run that a fork takes. */
export interface ForkedRun {
  readonly start: FactOf<"run-start">;
  /** With an `attempt` at the end, as the policy `forked` takes them. */
  readonly shared: readonly Fact[];
}

/** Chooses what a fork shares with a recorded run. Throws a `CannotResume` or a `NoForkPoint` if the two do not fit. */
export function shareRun(
  {
    facts,
    program,
    host,
  }: { readonly facts: readonly Fact[]; readonly program: Program; readonly host: Pick<Host, "processes"> },
  point: SharingPoint,
): ForkedRun {
  const start = startFor(program, facts);
  const kept = factsBefore(facts, point);
  const { mode, onDenied, limits } = start;
  const attempt: Fact = {
    type: "attempt",
    number: 2,
    voids: voidsOf(kept),
    ...{ programDigest: program.digest, mode, onDenied, limits, version, owner: host.processes.self },
  };
  return { start, shared: [...kept, attempt] };
}
