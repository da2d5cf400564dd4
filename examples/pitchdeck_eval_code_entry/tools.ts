import { ToolFailure, tool } from "llm-do";
import { z } from "zod";

const evaluation = z.object({
  company: z.string(),
  summary: z.string(),
  scores: z.record(z.string(), z.number()),
  red_flags: z.array(z.string()),
});

/** Runs the whole: no model decides what comes next. A deck that cannot be evaluated is named, and the others are done. */
export const main = tool({
  description: "Evaluate every deck, and write one report for each.",
  input: z.object({ only: z.string().optional() }),
  calls: ["pitch_evaluator", "write_report"],
  replayable: true,
  run: async ({ only = "*.pdf" }, runtime) => {
    const { paths } = await runtime.step("decks", () => runtime.scopes.list("decks", { pattern: only, maxEntries: 200 }));
    return Promise.all(
      paths.map(async (deck) => {
        try {
          const { company, ...rest } = evaluation.parse(await runtime.call("pitch_evaluator", { attachments: [deck] }));
          const path = `reports/${deck.replace(/^.*\//, "").replace(/\.pdf$/, "")}.md`;
          await runtime.call("write_report", { path, content: render({ company, ...rest }) });
          return { company, path };
        } catch (thrown) {
          if (!(thrown instanceof ToolFailure)) throw thrown;
          return { deck, failed: thrown.toolError.error };
        }
      }),
    );
  },
});

/** A tool of its own, so that each report passes the gate: code of a program is no way around a question. */
export const write_report = tool({
  description: "Write a report.",
  input: z.object({ path: z.string(), content: z.string() }),
  run: async ({ path, content }, runtime) => {
    const before = await runtime.scopes.facts(path).catch(() => undefined);
    const { bytes } = await runtime.scopes.write(path, new TextEncoder().encode(content), { expect: before?.identity });
    return { path, bytes };
  },
});

function render({ company, summary, scores, red_flags }: z.infer<typeof evaluation>): string {
  const total = Object.values(scores).reduce((sum, score) => sum + score, 0);
  const lines = Object.entries(scores).map(([name, score]) => `- ${name}: ${score}`);
  const flags = red_flags.map((flag) => `- ${flag}`);
  return `${[`# ${company}`, `${summary} ${total} of 20.`, lines.join("\n"), ...(flags.length > 0 ? ["## Red flags", flags.join("\n")] : [])].join("\n\n")}\n`;
}
