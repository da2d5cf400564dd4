import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";
import {
  type Arm,
  type Case,
  childCase,
  childDescription,
  instructions,
  lookup,
  lookupDescription,
  modelOf,
  mostTurns,
  pdfName,
  pdfOf,
  question,
  toolsOf,
} from "../arm.ts";

export const arm: Arm = {
  name: "AI SDK",
  prepare: async (baseURL) => {
    const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none" });
    const input = z.object({ key: z.string() });
    const all = {
      lookup: tool({ description: lookupDescription, inputSchema: input, execute: async ({ key }) => lookup(key) }),
      child: tool({ description: childDescription, inputSchema: input, execute: () => ask(childCase) }),
    };
    const ask = async (one: Case): Promise<string> => {
      const tools = Object.fromEntries(toolsOf(one).map((name) => [name, all[name]]));
      const about = { model: provider(modelOf(one)), instructions, tools, stopWhen: isStepCount(mostTurns) };
      if (one.kind !== "pdf") return (await generateText({ ...about, prompt: question })).text;
      const file = { type: "file", data: pdfOf(), mediaType: "application/pdf", filename: pdfName } as const;
      const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: question }, file] }];
      return (await generateText({ ...about, messages })).text;
    };
    return async (one) => {
      if (one.kind !== "text") return ask(one);
      let text = "";
      const { textStream } = streamText({ model: provider(modelOf(one)), instructions, prompt: question });
      for await (const part of textStream) text += part;
      return text;
    };
  },
};
