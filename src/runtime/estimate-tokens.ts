import type { Message } from "../protocol/message.ts";
import type { ToolDefinition } from "../protocol/tool.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { offeredTools } from "./search-tools.ts";

/** Tokens that a turn's request comes to: four characters for each, as in English text; files are counted by their size. */
export function estimateTokens(call: CallConfig, frame: CallFrame): number {
  const system = frame.system.reduce((sum, part) => sum + part.length / 4, 0);
  const tools = offeredTools(call, frame).reduce((sum, tool) => sum + tokensOf(tool), 0);
  return Math.ceil(frame.messages.reduce((sum, message) => sum + tokensOf(message), system + tools));
}

const known = new WeakMap<Message | ToolDefinition, number>();

/** Neither messages nor tools ever change. */
function tokensOf(value: Message | ToolDefinition): number {
  const tokens = known.get(value) ?? Math.ceil(JSON.stringify(value).length / 4);
  known.set(value, tokens);
  return tokens;
}
