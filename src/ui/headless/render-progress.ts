import { comparePaths } from "../../protocol/call.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { counted, show } from "../explain/phrases.ts";
import { renderCost } from "../render-usage.ts";
import type { RunView } from "../run-view.ts";
import { callLabel } from "../text/call-label.ts";
import { clipRow } from "../tui/clip-row.ts";

/** A run has gone on for so long before its progress is shown. In milliseconds. */
const unnoticed = 2000;

/**
 * `main > evaluator#1 and 2 more: 12 s, 3 requests, 4,512 tokens, $0.02`: what goes on, in one row. Undefined if there is nothing to
 * say: at the beginning, at a question and after the end.
 */
export function renderProgress(view: RunView, { now, columns }: { now: number; columns: number }): string | undefined {
  const elapsed = now - view.startedAt;
  if (view.startedAt === 0 || view.ended || view.asking > 0 || elapsed < unnoticed) return undefined;
  const paths = [...view.calls.keys()].filter((path) => ![...view.calls.keys()].some((other) => other.startsWith(`${path}/`)));
  const [first = view.entry, ...others] = paths.sort(comparePaths);
  const { requests, inputTokens, outputTokens, usd, usdAtLeast } = view.usage;
  const spent = [
    `${formatCount(Math.floor(elapsed / 1000))} s`,
    counted(requests, "request"),
    `${formatCount(inputTokens + outputTokens)} tokens`,
    ...(usd === undefined || usd === 0 ? [] : [renderCost({ usd, usdAtLeast }) ?? ""]),
  ];
  const more = others.length > 0 ? ` and ${formatCount(others.length)} more` : "";
  return clipRow(`${show(callLabel(first))}${more}: ${spent.join(", ")}`, columns - 1);
}
