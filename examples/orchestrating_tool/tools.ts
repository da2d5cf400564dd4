import { tool } from "llm-do";
import { z } from "zod";

interface Review {
  readonly task: string;
  readonly urgent: boolean;
}

/** Code decides what runs beside what; the judgement of each note is a worker's. */
export const review_all = tool({
  description: "Review all notes of a folder, and give the urgent ones first.",
  input: z.object({ folder: z.string() }),
  calls: ["reviewer"],
  replayable: true,
  run: async ({ folder }, runtime) => {
    const list = () => runtime.scopes.list(folder, { pattern: "**/*.md", maxEntries: 100 });
    const { paths } = await runtime.step("notes", list);
    const reviews = await Promise.all(
      paths.map(async (note) => {
        const review = (await runtime.call("reviewer", { note })) as unknown as Review;
        runtime.progress(`reviewed ${note}`);
        return { note, ...review };
      }),
    );
    return reviews.sort((a, b) => Number(b.urgent) - Number(a.urgent));
  },
});
