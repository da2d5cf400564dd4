import { isRecord, type JsonValue } from "../../protocol/json.ts";
import { runSteps } from "../../util/in-steps.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { show, textOrJson } from "../explain/phrases.ts";
import { renderCost } from "../render-usage.ts";
import type { ToolCard } from "../run-view.ts";
import { depthOf, lastLabel } from "../text/call-label.ts";
import { changeIn, previewOf, toLines } from "../text/preview-lines.ts";
import { type PreviewLine, PreviewRows } from "../text/preview-rows.ts";
import { wrapWords } from "../text/wrap-text.ts";
import { clipRow } from "./clip-row.ts";
import type { Layout } from "./spans.ts";

/** Rows of each part of an opened card; the rest is counted. */
const longestPart = 40;

/** Draws a call that has ended: one row, or with its arguments, its diff and its result. */
export function drawCard(card: ToolCard, layout: Layout, isOpen: boolean): string[] {
  const { style, columns } = layout;
  const margin = "  ".repeat(Math.max(0, depthOf(card.path) - 1));
  const mark = card.result.ok ? style(["green"], "✓") : style(["red"], "✗");
  const facts = [
    card.executedBy ? `by the ${card.executedBy}` : seconds(card.milliseconds),
    ...(card.usage && card.usage.requests > 0 ? [`${formatCount(card.usage.inputTokens + card.usage.outputTokens)} tokens`] : []),
    ...(card.usage?.usd === undefined || card.usage.usd === 0
      ? []
      : [renderCost({ usd: card.usage.usd, usdAtLeast: card.usage.usdAtLeast }) ?? ""]),
    ...(card.decision === undefined ? [] : [show(card.decision)]),
  ].join(" · ");
  const name = lastLabel(card.path);
  const about = describe(card);
  const room = columns - margin.length - 2;
  const text = clipRow(`${name}  ${about}`, Math.max(8, room - facts.length - 3));
  const head = `${margin}${mark} ${text}  ${style(["dim"], clipRow(facts, Math.max(0, room - 3)))}`;
  if (!isOpen) return [head, ...problemRows(card, Math.max(8, room)).map((row) => `${margin}  ${row}`)];
  return [head, ...openParts(card).flatMap((lines) => drawPart(lines, { ...layout, columns: columns - margin.length }, margin))];
}

function describe({ args, result }: ToolCard): string {
  const subject =
    isRecord(args) && typeof args["path"] === "string" ? args["path"] : args === undefined ? "" : JSON.stringify(args);
  const shown = show(clipText(subject, 300, "…"));
  return result.ok ? shown : `${shown} failed (${result.error.type})`;
}

/** Says why a call failed, over as many rows as it takes: what would help often comes last. The first row says who denied a call. */
function problemRows({ result }: ToolCard, columns: number): string[] {
  return result.ok || result.error.type === "denied" ? [] : wrapWords(show(clipText(result.error.error, 300, "…")), columns);
}

function openParts(card: ToolCard): PreviewLine[][] {
  const { args, preview, result } = card;
  const change = runSteps(previewOf(preview ?? changeIn(args)));
  const value = result.ok ? result.value : (result.error as unknown as JsonValue);
  return [
    ...(change.length > 0 ? [change] : args === undefined ? [] : [["arguments:", ...toLines(textOrJson(args))]]),
    ["result:", ...toLines(textOrJson(value))],
  ];
}

function drawPart(lines: readonly PreviewLine[], { columns, style }: Layout, margin: string): string[] {
  const rows = new PreviewRows(lines, { columns, style: (format, value) => style([format], value) });
  return rows.take(longestPart).rows.map((row) => `${margin}${row}`);
}

/** `120 ms`, `3.4 s`, `2 min 5 s`. */
export function seconds(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.floor((milliseconds % 60_000) / 1000)} s`;
}
