import { tool } from "llm-do";
import { z } from "zod";

export const slug = tool({
  description: "Turn a topic into a file name.",
  input: z.object({ topic: z.string().min(1) }),
  sideEffect: false,
  run: ({ topic }) =>
    topic
      .normalize("NFKD")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 60) || "report",
});
