import { tool } from "llm-do";
import { z } from "zod";

export const calculate_stats = tool({
  input: z.object({ values: z.array(z.number()).min(1) }),
  run: ({ values }) => ({ smallest: Math.min(...values), largest: Math.max(...values) }),
});

export const send_notification = tool({
  input: z.object({ recipient: z.string(), text: z.string() }),
  run: ({ recipient }) => `sent to ${recipient}`,
});
