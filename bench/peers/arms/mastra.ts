import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import * as bench from "../arm.ts";

export const arm: bench.Arm = {
  name: "Mastra",
  prepare: async (baseURL) => {
    const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none" });
    const inputSchema = z.object({ key: z.string() });
    const all = {
      lookup: createTool({
        id: "lookup",
        description: bench.lookupDescription,
        inputSchema,
        execute: async ({ key }) => bench.lookup(key),
      }),
      child: createTool({ id: "child", description: bench.childDescription, inputSchema, execute: () => ask(bench.childCase) }),
    };
    const createAgent = (one: bench.Case) => {
      const tools = Object.fromEntries(bench.toolsOf(one).map((name) => [name, all[name]]));
      return new Agent({
        id: "main",
        name: "main",
        instructions: bench.instructions,
        model: provider(bench.modelOf(one)) as never,
        tools,
      });
    };
    const ask = async (one: bench.Case): Promise<string> => {
      const file = () => ({ type: "file" as const, data: bench.pdfOf(), mediaType: "application/pdf", filename: bench.pdfName });
      const content = [{ type: "text" as const, text: bench.question }, ...(one.kind === "pdf" ? [file()] : [])];
      const prompt = one.kind === "pdf" ? [{ role: "user" as const, content }] : bench.question;
      return (await createAgent(one).generate(prompt, { maxSteps: bench.mostTurns })).text;
    };
    return async (one) => {
      if (one.kind !== "text") return ask(one);
      let text = "";
      for await (const part of (await createAgent(one).stream(bench.question)).textStream) text += part;
      return text;
    };
  },
};
