import type { Program } from "../../front/llm-do.ts";
import type { Usage } from "../../protocol/usage.ts";
import { amountOf } from "../../runtime/bounds/budget.ts";
import { readLimit } from "../../runtime/run-error.ts";
import { dollars } from "../../ui/render-usage.ts";
import { formatCount } from "../../util/text/format-count.ts";

/** An end at a limit, or of an answer that was cut off. */
interface EarlyEnd {
  readonly reason?: string;
  /** The sum of all attempts. */
  readonly usage: Usage;
}

/**
 * Says how a run goes on that ended early. The proposed limit is twice the one that was reached, and of tokens and dollars at least four
 * times what the run has spent, and ten cents: each continuation pays its last turn again, so a narrow one would cost and bring nothing. No option
 * raises a limit of the entry's own file. `lineWith` makes the line that goes on, with values for `--limit`.
 */
export function describeMore(
  { reason = "", usage }: EarlyEnd,
  entry: Program["entry"] | undefined,
  lineWith: (limits: readonly string[]) => string,
): string {
  const reached = readLimit(reason);
  if (!reached) return `\`${lineWith([])}\` goes on with it, once more is allowed`;
  const { limit, allowed } = reached;
  const twice = allowed > 0 ? Number((2 * allowed).toPrecision(6)) : 1;
  const spent = limit === "usd" || limit === "tokens" ? amountOf(usage)[limit] : 0;
  const wider = spent > 0 ? roundUp(4 * spent) : 0;
  const more = Math.max(twice, wider, limit === "usd" && spent > 0 ? leastDollars : 0);
  const cost = limit === "usd" ? dollars(spent) : `${formatCount(spent)} tokens`;
  const measure = more === wider ? `: about four times the ${cost} spent so far, since` : ":";
  const why = more > twice ? `${measure} each resume pays its last turn again` : "";
  const own = entry?.kind === "worker" ? entry.worker : undefined;
  if (own?.limits[limit] === allowed)
    return `raise \`${limit}\` under \`limits\` of ${own.id}.worker to ${more}; then \`${lineWith([])}\` goes on with it${why}`;
  return `\`${lineWith([`${limit}=${more}`])}\` goes on with it${why}`;
}

/** Below that a limit ends a run again and again for a sum that nobody saves. */
const leastDollars = 0.1;

/** Rounds up to 1, 2 or 5 of a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = [1, 2, 5, 10].find((one) => one >= value / power - 1e-9) ?? 10;
  return Number((digit * power).toPrecision(6));
}
