import type { Message } from "../protocol/message.ts";
import type { ToolDefinition } from "../protocol/tool.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { measureOnce } from "./digest-request.ts";
import { offeredTools } from "./search-tools.ts";

/** Tokens that a turn's request comes to: four characters for each, as in English text; files are counted by their size. */
export function estimateTokens(call: CallConfig, frame: CallFrame): number {
  const system = frame.system.reduce((sum, part) => sum + part.length / 4, 0);
  const tokensOf = (value: Message | ToolDefinition) => Math.ceil(measureOnce(value, call.run.redactor).characters / 4);
  const tools = offeredTools(call, frame).reduce((sum, tool) => sum + tokensOf(tool), 0);
  return Math.ceil(frame.messages.reduce((sum, message) => sum + tokensOf(message), system + tools));
}
