import { tool } from "llm-do";

export const main = (): number => 1;
export const clean = tool({ input: { type: "object" }, run: () => 1 });
