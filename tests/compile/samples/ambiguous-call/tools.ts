import { tool } from "llm-do";

const input = { type: "object" };
export const review = tool({ input, calls: ["a"], replayable: true, run: () => 1 });
export const a = tool({ input, run: () => 1 });
