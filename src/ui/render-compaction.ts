import type { FactOf } from "../protocol/fact.ts";
import { formatCount } from "../util/text/format-count.ts";
import { counted, show } from "./explain/phrases.ts";

/** `dropped 12 results to make room, 81,000 to 49,000 tokens of 100,000: look of turns 1 to 12`. */
export function renderCompaction({
  window,
  before,
  after,
  dropped,
}: Pick<FactOf<"compaction">, "window" | "before" | "after" | "dropped">): string {
  const byTool = Map.groupBy(dropped, ({ tool }) => tool);
  const named = [...byTool].map(([tool, results]) => `${show(tool)} of ${renderTurns(results.map(({ turn }) => turn))}`);
  return `dropped ${counted(dropped.length, "result")} to make room, ${formatCount(before)} to ${formatCount(after)} tokens of ${formatCount(window)}: ${named.join(", ")}`;
}

function renderTurns(turns: readonly number[]): string {
  const [first, last] = [turns[0], turns.at(-1)];
  return first === last ? `turn ${first}` : `turns ${first} to ${last}`;
}
