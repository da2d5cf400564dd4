import { tool } from "llm-do";
import { z } from "zod";

export const summarize_all = tool({
  input: z.object({ texts: z.array(z.string()) }),
  calls: ["summarizer"],
  replayable: true,
  run: ({ texts }, runtime) => Promise.all(texts.map((input) => runtime.call("summarizer", { input }))),
});
