import type { LimitName, Limits } from "../../protocol/usage.ts";
import { RunError } from "../run-error.ts";

export { defaultTurns } from "../../program/program.ts";

const least: Readonly<Record<LimitName, number>> = {
  depth: 0,
  turns: 1,
  tool_calls: 0,
  tokens: 0,
  usd: 0,
  seconds: 0,
  parallel: 1,
};

/** Throws a `RunError` for a limit that would be none, or that nothing could run under. */
export function checkLimits(limits: Limits): Limits {
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(least, name))
      throw new RunError("configuration", `there is no limit \`${name}\`; there are ${Object.keys(least).join(", ")}`);
    const minimum = least[name as LimitName];
    const isFine = value === undefined || (Number.isFinite(value) && value >= minimum);
    if (!isFine) throw new RunError("configuration", `\`limits.${name}\` must be a number, ${minimum} or more`);
  }
  return limits;
}
