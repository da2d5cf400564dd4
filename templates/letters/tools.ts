// Tools that workers name under `toolsets`.
import { tool } from "llm-do";
import { z } from "zod";

/** Dates are work for code: a model would miscount. */
export const due_date = tool({
  description: "The date that is some days after another one.",
  input: z.object({ date: z.iso.date(), days: z.int().min(0).max(365) }),
  approval: "pre-approved",
  sideEffect: false,
  run: ({ date, days }) => new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10),
});
