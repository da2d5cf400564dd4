import type { ToolResult } from "../protocol/message.ts";
import type { ToolError } from "../protocol/tool.ts";
import { toToolFailure } from "../toolsets/results/scope-failure.ts";
import { ToolFailure } from "../toolsets/toolset.ts";
import { copyJson } from "../util/json/plain-json.ts";
import { errorMessage } from "../util/text/error-message.ts";

export function refusal(error: ToolError): ToolResult {
  return { ok: false, error };
}

const causes = new WeakMap<ToolResult, unknown>();

/** Returns the tool error for the model of a failure in a call. */
export function toRefusal(caught: unknown): ToolResult {
  const thrown = toToolFailure(caught);
  if (thrown instanceof ToolFailure) return refusal(plainError(thrown.toolError));
  const hint = "the tool itself failed; try other arguments or another way";
  const refused = refusal({ type: "tool_failed", error: String(errorMessage(thrown)), hint });
  causes.set(refused, thrown);
  return refused;
}

/** Returns the error that a tool threw; undefined for every other result. */
export function thrownBy(result: ToolResult): unknown {
  return causes.get(result);
}

/** Code can put anything into its failure; what does not go into JSON must not end the run. */
function plainError(error: ToolError): ToolError {
  try {
    return copyJson(error);
  } catch {
    return { type: "tool_failed", error: String(error.error) };
  }
}

/** `instead`: what the model can do where the tool knows better than to go on without the call. */
export function deniedResult(tool: string, note: string | undefined, instead = "go on without it"): ToolResult {
  const error = note ? `\`${tool}\` was denied: ${note}` : `\`${tool}\` was denied`;
  return refusal({ type: "denied", error, hint: `do not repeat the same call; ${instead}, or say what could not be done` });
}

export function blockedResult(tool: string, why: string): ToolResult {
  return refusal({ type: "blocked", error: `\`${tool}\` is blocked: ${why}`, hint: "no approval can allow it; do without it" });
}
