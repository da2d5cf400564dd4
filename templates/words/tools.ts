// What workers refer to by name under `toolsets`.
import { tool } from "llm-do";
import { z } from "zod";

export const count_words = tool({
  description: "Count the words of a text.",
  input: z.object({ text: z.string() }),
  // With "ask" every call waits for your answer.
  approval: "pre-approved",
  run: ({ text }) => text.split(/\s+/).filter((word) => word !== "").length,
});
