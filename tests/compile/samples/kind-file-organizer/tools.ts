import { tool } from "llm-do";
import { z } from "zod";

export const sanitize_filename = tool({
  description: "Turn a title into a file name.",
  input: z.object({ title: z.string() }),
  approval: "pre-approved",
  run: ({ title }) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
});
