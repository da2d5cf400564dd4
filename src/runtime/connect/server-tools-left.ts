import type { ModelRequest } from "../../models/model.ts";
import type { CallConfig, CallFrame } from "../config.ts";

/** Providers count the uses of one request; what a worker declares is for its whole call. */
export function serverToolsLeft(
  { serverTools }: CallConfig,
  { messages, earlier }: CallFrame,
): Pick<ModelRequest, "serverTools"> {
  if (serverTools.every((tool) => tool.max_uses === undefined)) return serverTools.length > 0 ? { serverTools } : {};
  const calls = messages.slice(earlier).flatMap((message) => (message.role === "assistant" ? message.parts : []));
  const left = serverTools.flatMap((tool) => {
    if (tool.max_uses === undefined) return [tool];
    const uses = tool.max_uses - calls.filter((part) => part.type === "server-call" && part.name === tool.type).length;
    return uses > 0 ? [{ ...tool, max_uses: uses }] : [];
  });
  return left.length > 0 ? { serverTools: left } : {};
}
