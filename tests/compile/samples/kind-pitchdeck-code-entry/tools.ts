import { tool, type WorkerRuntime } from "llm-do";
import { z } from "zod";

export const main = tool({
  input: z.object({ companies: z.array(z.string()) }),
  calls: ["pitch_evaluator"],
  replayable: true,
  run: async ({ companies }, runtime: WorkerRuntime) => {
    const reports = [];
    for (const company of companies)
      reports.push(await runtime.call("pitch_evaluator", { company, attachments: [`input/${company}.pdf`] }));
    return reports;
  },
});
