import { tool } from "llm-do";

export const review = tool({ input: { type: "object" }, calls: ["analyzr"], replayable: true, run: () => 1 });
