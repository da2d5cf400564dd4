import { tool } from "llm-do";
export const greet = tool({ input: { type: "object" }, run: () => 1 });
