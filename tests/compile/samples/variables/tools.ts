import { tool, toolset } from "llm-do";

const ping = tool({ name: "ping", input: { type: "object" }, run: () => 1 });
export const db = toolset({
  name: "db",
  config: { type: "object", properties: { url: { type: "string" }, hosts: { type: "array" } }, additionalProperties: false },
  tools: () => [ping],
});
