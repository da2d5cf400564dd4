import { tool, toolset } from "llm-do";
import { z } from "zod";

const pair = z.object({ a: z.number(), b: z.number() });

export const calc_tools = toolset({
  name: "calc_tools",
  tools: () => [
    tool({ name: "add", input: pair, run: ({ a, b }) => a + b }),
    tool({ name: "multiply", input: pair, run: ({ a, b }) => a * b }),
    tool({ name: "factorial", input: z.object({ n: z.int().min(0).max(20) }), run: ({ n }) => factorial(n) }),
  ],
});

function factorial(n: number): number {
  return n < 2 ? 1 : n * factorial(n - 1);
}
