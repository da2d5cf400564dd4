import { Agent, OpenAIProvider, run, setTracingDisabled, tool } from "@openai/agents";
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
  name: "OpenAI Agents",
  without: { "children-1000": "left out, it had not ended after 150 s where the fetch loop took 11 s" },
  prepare: async (baseURL) => {
    setTracingDisabled(true);
    const provider = new OpenAIProvider({ apiKey: "none", baseURL, useResponses: false });
    const parameters = z.object({ key: z.string() });
    const all = {
      lookup: tool({ name: "lookup", description: lookupDescription, parameters, execute: async ({ key }) => lookup(key) }),
      child: tool({ name: "child", description: childDescription, parameters, execute: () => ask(childCase) }),
    };
    const createAgent = async (one: Case) => {
      const tools = toolsOf(one).map((name) => all[name]);
      return new Agent({ name: "main", instructions, model: await provider.getModel(modelOf(one)), tools });
    };
    const ask = async (one: Case): Promise<string> => {
      const file = {
        type: "input_file" as const,
        file: `data:application/pdf;base64,${one.kind === "pdf" ? pdfOf().toString("base64") : ""}`,
        filename: pdfName,
      };
      const content = [{ type: "input_text" as const, text: question }, file];
      const prompt = one.kind === "pdf" ? [{ role: "user" as const, content }] : question;
      return String((await run(await createAgent(one), prompt, { maxTurns: mostTurns })).finalOutput);
    };
    return async (one) => {
      if (one.kind !== "text") return ask(one);
      let text = "";
      for await (const part of (await run(await createAgent(one), question, { stream: true })).toTextStream()) text += part;
      return text;
    };
  },
};
