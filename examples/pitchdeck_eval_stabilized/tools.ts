import { tool } from "llm-do";
import { z } from "zod";

const evaluation = z.object({
  company: z.string(),
  summary: z.string(),
  scores: z.record(z.string(), z.int().min(1).max(5)),
  red_flags: z.array(z.string()),
});

/** Which decks there are and what their reports are called: the same each time. */
export const list_decks = tool({
  description: "List the decks, each with the path that its report is to have.",
  input: z.object({}),
  sideEffect: false,
  run: async (_, runtime) => {
    const { paths } = await runtime.scopes.list("decks", { pattern: "*.pdf", maxEntries: 200 });
    return paths.map((deck) => ({ deck, report: `reports/${deck.replace(/^.*\//, "").replace(/\.pdf$/, "")}.md` }));
  },
});

/** The verdict follows from the scores by a rule, and the form is always the same. */
export const render_report = tool({
  description: "Turn an evaluation into a report in Markdown, with the verdict.",
  input: evaluation,
  sideEffect: false,
  run: ({ company, summary, scores, red_flags }) => {
    const total = Object.values(scores).reduce((sum, score) => sum + score, 0);
    const isComplete = Object.values(scores).every((score) => score > 1);
    const verdict = total >= 15 && isComplete ? "go" : total >= 9 ? "watch" : "pass";
    const rows = Object.entries(scores).map(([name, score]) => `| ${name} | ${score} |`);
    const flags = red_flags.slice(0, 3).map((flag) => `- ${flag}`);
    const table = ["| Criterion | Score |", "| --- | --- |", ...rows].join("\n");
    const parts = [`# ${company}`, `**Verdict: ${verdict}**, ${total} of 20. ${summary}`, table];
    return { verdict, markdown: `${[...parts, ...(flags.length > 0 ? ["## Red flags", flags.join("\n")] : [])].join("\n\n")}\n` };
  },
});
