import type { Limits, Usage } from "../../protocol/usage.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { show } from "../explain/phrases.ts";
import { dollars, renderCost } from "../render-usage.ts";
import { modelLabel } from "../text/model-label.ts";
import { clipRow } from "./clip-row.ts";
import { seconds } from "./draw-card.ts";
import type { Layout } from "./spans.ts";

export interface Foot {
  readonly model: string | undefined;
  /** Usage of the run, or of the whole chat. */
  readonly usage: Usage;
  readonly limits: Limits;
  /** Milliseconds since the run began; undefined between runs. */
  readonly elapsed: number | undefined;
  readonly calledTools: number;
}

/** One row: the model, tokens, dollars, what came from a cache, time, and what is left of the limits. */
export function drawFoot({ model, usage, limits, elapsed, calledTools }: Foot, { columns, style }: Layout): string {
  const { inputTokens, outputTokens, cachedInputTokens, usd } = usage;
  const of = (limit: number | undefined, render: (value: number) => string) =>
    limit === undefined ? "" : ` of ${render(limit)}`;
  const total = inputTokens + outputTokens;
  const parts = [
    ...(model === undefined ? [] : [show(modelLabel(model))]),
    `${formatCount(inputTokens)} in ${formatCount(outputTokens)} out${limits.tokens === undefined ? "" : ` (${formatCount(total)}${of(limits.tokens, formatCount)})`}`,
    ...(usd === undefined ? [] : [`${renderCost(usage)}${of(limits.usd, dollars)}`]),
    ...(inputTokens > 0 ? [`${Math.round((100 * cachedInputTokens) / inputTokens)}% cached`] : []),
    ...(limits.tool_calls === undefined ? [] : [`${formatCount(calledTools)}${of(limits.tool_calls, formatCount)} tool calls`]),
    ...(elapsed === undefined
      ? []
      : [`${seconds(Math.floor(elapsed / 1000) * 1000)}${of(limits.seconds, (value) => `${value} s`)}`]),
  ];
  return style(["dim"], clipRow(parts.join(" · "), columns - 1));
}
