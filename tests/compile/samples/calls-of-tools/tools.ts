import { tool } from "llm-do";

const input = { type: "object" };
export const review = tool({ input, calls: ["analyzer", "clean"], run: () => 1 });
export const clean = tool({ input, calls: ["deeper"], run: () => 1 });
