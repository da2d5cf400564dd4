import type { RunEvent } from "../../protocol/event.ts";
import type { JsonValue } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { list, show } from "../explain/phrases.ts";
import { renderChecked } from "../render-checked.ts";
import { renderCompaction } from "../render-compaction.ts";
import { renderDecision } from "../render-decision.ts";
import { renderResult } from "../render-result.ts";
import { renderUsage } from "../render-usage.ts";
import { callLabel } from "../text/call-label.ts";
import { modelLabel } from "../text/model-label.ts";
import { questionPosition } from "../text/question-position.ts";

const longestArguments = 160;
const longestResult = 200;

/** One line for one event, in ASCII as far as its facts allow; undefined for events that text mode does not show. */
export function renderEvent(event: RunEvent): string | undefined {
  const label = callLabel(event.callPath);
  switch (event.type) {
    case "run-start":
      return `run ${event.runId}: ${show(event.program)}, entry ${show(event.entry)}, approvals: ${event.mode}`;
    case "run-end":
      // The command prints the whole message below.
      return `run ${event.stopReason}: ${renderUsage(event.usage)}${event.error ? `; ${show(event.error.split("\n", 1)[0] ?? "")}` : ""}`;
    case "call-start":
      return `${label} starts${event.model ? ` on ${show(modelLabel(event.model))} (${show(event.modelSource ?? "")})` : ""}${attached(event.attachments)}`;
    case "call-end":
      return `${label} ends: ${event.stopReason}${event.stopReason === "cut" ? ` (${show(event.reason ?? "")})` : ""}, ${seconds(event.milliseconds)}, ${renderUsage(event.usage)}`;
    case "answered-by":
      return event.by === "code"
        ? `${label} answered by its code`
        : `${label} is answered by its prompt (code: ${show(event.reason ?? "")})`;
    case "checked":
      return `${label} ${show(renderChecked(event))}`;
    case "tool-call":
      return `${label} called with ${show(clipText(JSON.stringify(event.args), longestArguments, "..."))}`;
    case "tool-result":
      return `${label} ${renderResult(event.result as unknown as JsonValue, longestResult)} (${event.executedBy ? `by the ${event.executedBy}` : seconds(event.milliseconds)})`;
    case "approval-request":
      return `${label} asks (${questionPosition(event.request.position)}): ${show(event.request.description)}`;
    case "approval-decision":
      return `${label} ${renderDecision(event)}`;
    case "limit":
      return `${label} ${show(event.message)}`;
    case "compaction":
      return `${label} ${renderCompaction(event)}`;
    case "retry":
      return `${label} retries in ${seconds(event.delayMilliseconds)} (attempt ${event.attempt + 1} of ${event.maxAttempts}): ${show(event.reason)}${event.afterOutput ? " (what was shown of this answer is void)" : ""}`;
    case "progress":
      return `${label}: ${show(event.message)}`;
    case "warning":
      return `${label} warning: ${show(event.message)}`;
    case "turn-start":
    case "turn-end":
    case "text-delta":
    case "reasoning-delta":
    case "partial-output":
    case "usage":
    case "message":
      return undefined;
  }
}

function attached(names: readonly string[] | undefined): string {
  return names && names.length > 0 ? ` with ${list(names)}` : "";
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
