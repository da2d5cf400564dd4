import { tool, toolset } from "llm-do";
import { z } from "zod";

export const odd = toolset({
  name: "odd",
  tools: () => [tool({ name: "read_result", input: z.object({}), run: () => "" })],
});
