import { tool } from "llm-do";
import { z } from "zod";

/** The model decides where a file belongs. What a name may hold is no matter of judgement, so it is code. */
export const tidy_name = tool({
  description: "Give the tidy form of a file's name.",
  input: z.object({ name: z.string().min(1) }),
  sideEffect: false,
  run: ({ name }) => {
    const dot = name.lastIndexOf(".");
    const [stem, suffix] = dot > 0 ? [name.slice(0, dot), name.slice(dot).toLowerCase()] : [name, ""];
    const tidy = stem
      .normalize("NFKD")
      .replace(/[^\w\s-]/g, "")
      .trim()
      .replace(/[\s_-]+/g, "-")
      .toLowerCase();
    return `${tidy || "unnamed"}${suffix}`;
  },
});
