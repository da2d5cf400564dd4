import { tool } from "llm-do";
import { z } from "zod";

export const list_pitchdecks = tool({
  description: "List the decks, each with the path of its report.",
  input: z.object({}),
  approval: "pre-approved",
  run: async (_, { scopes }) => {
    const { paths } = await scopes.list(".", { pattern: "input/*.pdf", maxEntries: 100 });
    return paths.map((path) => ({ path, report: path.replace("input/", "evaluations/").replace(/pdf$/, "md") }));
  },
});
