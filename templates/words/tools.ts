// What workers refer to by name under `toolsets`.
import { tool } from "llm-do";
import { z } from "zod";

/** Counting is work for code: a model would guess. With `approval: "ask"` every call waits for your answer. */
export const count_words = tool({
  description: "Count the words of a text.",
  input: z.object({ text: z.string().describe("The whole text.") }),
  approval: "pre-approved",
  run: ({ text }) => text.split(/\s+/).filter((word) => word !== "").length,
});
