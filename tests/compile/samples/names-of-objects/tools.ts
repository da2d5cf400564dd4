import { tool } from "llm-do";

export const toString = tool({ input: { type: "object" }, run: () => 1 });
