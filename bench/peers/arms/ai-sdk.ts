import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";
import * as bench from "../arm.ts";

export const arm: bench.Arm = {
  name: "AI SDK",
  prepare: async (baseURL) => {
    const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none" });
    const input = z.object({ key: z.string() });
    const all = {
      lookup: tool({ description: bench.lookupDescription, inputSchema: input, execute: async ({ key }) => bench.lookup(key) }),
      child: tool({ description: bench.childDescription, inputSchema: input, execute: () => ask(bench.childCase) }),
    };
    const ask = async (one: bench.Case): Promise<string> => {
      const tools = Object.fromEntries(bench.toolsOf(one).map((name) => [name, all[name]]));
      const about = {
        model: provider(bench.modelOf(one)),
        instructions: bench.instructions,
        tools,
        stopWhen: isStepCount(bench.mostTurns),
      };
      if (one.kind !== "pdf") return (await generateText({ ...about, prompt: bench.question })).text;
      const file = { type: "file", data: bench.pdfOf(), mediaType: "application/pdf", filename: bench.pdfName } as const;
      const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: bench.question }, file] }];
      return (await generateText({ ...about, messages })).text;
    };
    return async (one) => {
      if (one.kind !== "text") return ask(one);
      let text = "";
      const { textStream } = streamText({
        model: provider(bench.modelOf(one)),
        instructions: bench.instructions,
        prompt: bench.question,
      });
      for await (const part of textStream) text += part;
      return text;
    };
  },
};
