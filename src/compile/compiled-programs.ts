import type { Program } from "../program/program.ts";
import type { Reach } from "../protocol/reach.ts";
import { type NeedOfTrust, UntrustedProgram } from "./compile-error.ts";

/** How a program was compiled: what a later run of it has to know. */
export interface Standing {
  readonly toRun: boolean;
  readonly trusted: boolean;
  readonly untrusted?: NeedOfTrust | undefined;
  readonly reach: Reach | undefined;
}

const standings = new WeakMap<Program, Standing>();

export function keepStanding(program: Program, standing: Standing): void {
  standings.set(program, standing);
}

/**
 * Whether the program was compiled with trust. Throws an `Error` of what did not come from `compile`, or was not compiled to
 * be run, and an `UntrustedProgram` where the trust that it needs was given neither then nor now.
 */
export function checkStanding(program: Program, { trust }: { readonly trust: boolean }): boolean {
  const standing = standings.get(program);
  if (!standing) throw new Error("`program` has to be what `compile` gave");
  if (!standing.toRun) throw new Error("`program` has to be compiled with `toRun: true`");
  const { untrusted, reach } = standing;
  if (untrusted && !trust)
    throw reach ? new UntrustedProgram(untrusted, reach) : new Error("invariant: a program without a reach");
  return standing.trusted || trust;
}
