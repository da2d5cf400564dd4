import type { CallConfig, CallFrame } from "../config.ts";
import { estimateMessages, estimateTool } from "../history/digest-request.ts";
import { offeredTools } from "../history/search-tools.ts";

/** Tokens that a turn's request comes to. */
export function estimateTokens(call: CallConfig, frame: CallFrame): number {
  const { redactor } = call.run;
  const system = frame.system.reduce((sum, part) => sum + part.length / 4, 0);
  const tools = offeredTools(call, frame).reduce((sum, tool) => sum + estimateTool(tool, redactor), 0);
  return Math.ceil(system + tools + estimateMessages(frame.messages, redactor));
}
