import { tool } from "llm-do";

export const main = tool({ input: { type: "object", properties: { day: { type: "string" } } }, run: () => 1 });
