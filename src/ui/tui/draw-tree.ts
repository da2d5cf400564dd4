import { comparePaths } from "../../protocol/call.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { counted, show } from "../explain/phrases.ts";
import { renderCost } from "../render-usage.ts";
import type { CallView, RunView } from "../run-view.ts";
import { depthOf, lastLabel } from "../text/call-label.ts";
import { modelLabel } from "../text/model-label.ts";
import { clipRow } from "./clip-row.ts";
import { seconds } from "./draw-card.ts";
import type { Layout } from "./spans.ts";

const marks = { running: "●", asking: "?", retrying: "↻" } as const;

/** Draws the calls in flight as a tree, each with its time and what it spent. `now` is milliseconds since the epoch. */
export function drawTree(view: RunView, layout: Layout, { longest, now }: { longest: number; now: number }): string[] {
  const calls = [...view.calls.values()].sort((one, other) => comparePaths(one.path, other.path));
  const shown = calls.length > longest ? calls.slice(0, Math.max(1, longest - 1)) : calls;
  const rows = shown.map((call) => drawCall(call, layout, { now, ...(view.model === undefined ? {} : { model: view.model }) }));
  const left = calls.length - shown.length;
  return left > 0 ? [...rows, layout.style(["dim"], `  … and ${formatCount(left)} more calls`)] : rows;
}

/** The model is shown where it is not the entry's, which stands in the foot. */
function drawCall(
  call: CallView,
  { columns, style }: Layout,
  { now, model: entryModel }: Pick<RunView, "now" | "model">,
): string {
  const margin = "  ".repeat(depthOf(call.path));
  const spent = call.usage.inputTokens + call.usage.outputTokens;
  const facts = [
    seconds(Math.max(0, Math.floor((now - call.startedAt) / 1000) * 1000)),
    ...(call.turn > 0 ? [`turn ${call.turn}`] : []),
    ...(spent > 0 ? [`${formatCount(spent)} tokens`] : []),
    ...(call.usage.usd ? [renderCost({ usd: call.usage.usd, usdAtLeast: call.usage.usdAtLeast }) ?? ""] : []),
    ...(call.ended > 0 ? [`${counted(call.ended, "call")} done`] : []),
    ...(call.model === undefined || call.model === entryModel ? [] : [show(modelLabel(call.model))]),
  ].join(" · ");
  const name = lastLabel(call.path);
  const room = columns - margin.length - 2;
  const state = call.state === "asking" ? "waits for your answer" : (call.note ?? lastWords(call));
  const text = clipRow(`${name}  ${show(clipText(state, 200, "…"))}`, Math.max(name.length, room - facts.length - 2));
  const mark = style([call.state === "running" ? "cyan" : "yellow"], marks[call.state]);
  return `${margin}${mark} ${clipRow(text, room)}  ${style(["dim"], clipRow(facts, Math.max(0, room - text.length - 2)))}`;
}

/** The end of what it writes, on one line. Text of the entry is shown whole elsewhere. */
function lastWords({ path, text }: CallView): string {
  return depthOf(path) === 0 ? "" : text.replace(/\s+/g, " ").slice(-80).trim();
}
