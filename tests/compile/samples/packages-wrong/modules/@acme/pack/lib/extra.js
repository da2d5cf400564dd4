import { tool } from "llm-do";
export const extra = tool({ input: { type: "object" }, run: () => 1 });
