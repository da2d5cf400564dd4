import { ToolFailure, tool, toolset } from "llm-do";
import { z } from "zod";

const small = z.int().min(0).max(170);

const two = z.object({ a: z.number(), b: z.number() });

/** Four tools under one name. A mistake of the model comes back to it, with a hint, and ends nothing. */
export const arithmetic = toolset({
  name: "arithmetic",
  tools: () => [
    tool({ name: "add", description: "a + b", input: two, sideEffect: false, run: ({ a, b }) => a + b }),
    tool({ name: "multiply", description: "a · b", input: two, sideEffect: false, run: ({ a, b }) => a * b }),
    tool({
      name: "divide",
      description: "a / b",
      input: two,
      sideEffect: false,
      run: ({ a, b }) => {
        if (b === 0) throw new ToolFailure({ type: "invalid_arguments", error: "nothing can be divided by 0" });
        return a / b;
      },
    }),
    tool({
      name: "factorial",
      description: "n!, for a whole number from 0 to 170",
      input: z.object({ n: small }),
      sideEffect: false,
      run: ({ n }) => Array.from({ length: n }, (_, index) => index + 1).reduce((product, factor) => product * factor, 1),
    }),
  ],
});
