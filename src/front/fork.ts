import { factsBefore, type SharingPoint } from "../effects/fork-point.ts";
import { voidsOf } from "../effects/voids.ts";
import type { Host } from "../host/host.ts";
import type { Program } from "../program/program.ts";
import type { Fact, FactOf } from "../protocol/fact.ts";
import { entryName } from "../runtime/create-config.ts";
import { RunError } from "../runtime/run-error.ts";
import { escapeText } from "../util/text/escape-text.ts";
import { version } from "../version.ts";

/** The part of a recorded run that a fork takes. */
export interface ForkedRun {
  readonly start: FactOf<"run-start">;
  /** With an `attempt` at the end, as the policy `forked` takes them. */
  readonly shared: readonly Fact[];
}

/** Chooses what a fork shares with a recorded run. Throws a `RunError` or a `NoForkPoint` if the two do not fit. */
export function shareRun(
  {
    facts,
    program,
    host,
  }: { readonly facts: readonly Fact[]; readonly program: Program; readonly host: Pick<Host, "processes"> },
  point: SharingPoint,
): ForkedRun {
  const [start] = facts;
  if (start?.type !== "run-start")
    throw new RunError("configuration", "nothing is recorded of this run: it ended before it began");
  const entry = entryName(program);
  if (entry !== start.entry) {
    const recorded = escapeText(start.entry, { keepBackslashes: true });
    throw new RunError("configuration", `the recorded run began with \`${recorded}\`, and this program with \`${entry}\``);
  }
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
