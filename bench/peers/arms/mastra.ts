import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
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
  name: "Mastra",
  prepare: async (baseURL) => {
    const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none" });
    const inputSchema = z.object({ key: z.string() });
    const all = {
      lookup: createTool({ id: "lookup", description: lookupDescription, inputSchema, execute: async ({ key }) => lookup(key) }),
      child: createTool({ id: "child", description: childDescription, inputSchema, execute: () => ask(childCase) }),
    };
    const createAgent = (one: Case) => {
      const tools = Object.fromEntries(toolsOf(one).map((name) => [name, all[name]]));
      return new Agent({ id: "main", name: "main", instructions, model: provider(modelOf(one)) as never, tools });
    };
    const ask = async (one: Case): Promise<string> => {
      const file = () => ({ type: "file" as const, data: pdfOf(), mediaType: "application/pdf", filename: pdfName });
      const content = [{ type: "text" as const, text: question }, ...(one.kind === "pdf" ? [file()] : [])];
      const prompt = one.kind === "pdf" ? [{ role: "user" as const, content }] : question;
      return (await createAgent(one).generate(prompt, { maxSteps: mostTurns })).text;
    };
    return async (one) => {
      if (one.kind !== "text") return ask(one);
      let text = "";
      for await (const part of (await createAgent(one).stream(question)).textStream) text += part;
      return text;
    };
  },
};
