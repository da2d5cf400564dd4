import { Agent, OpenAIProvider, run, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";
import * as bench from "../arm.ts";

export const arm: bench.Arm = {
  name: "OpenAI Agents",
  without: { "children-1000": "left out, it had not ended after 150 s where the fetch loop took 11 s" },
  prepare: async (baseURL) => {
    setTracingDisabled(true);
    const provider = new OpenAIProvider({ apiKey: "none", baseURL, useResponses: false });
    const parameters = z.object({ key: z.string() });
    const all = {
      lookup: tool({
        name: "lookup",
        description: bench.lookupDescription,
        parameters,
        execute: async ({ key }) => bench.lookup(key),
      }),
      child: tool({ name: "child", description: bench.childDescription, parameters, execute: () => ask(bench.childCase) }),
    };
    const createAgent = async (one: bench.Case) => {
      const tools = bench.toolsOf(one).map((name) => all[name]);
      return new Agent({
        name: "main",
        instructions: bench.instructions,
        model: await provider.getModel(bench.modelOf(one)),
        tools,
      });
    };
    const ask = async (one: bench.Case): Promise<string> => {
      const file = {
        type: "input_file" as const,
        file: `data:application/pdf;base64,${one.kind === "pdf" ? bench.pdfOf().toString("base64") : ""}`,
        filename: bench.pdfName,
      };
      const content = [{ type: "input_text" as const, text: bench.question }, file];
      const prompt = one.kind === "pdf" ? [{ role: "user" as const, content }] : bench.question;
      return String((await run(await createAgent(one), prompt, { maxTurns: bench.mostTurns })).finalOutput);
    };
    return async (one) => {
      if (one.kind !== "text") return ask(one);
      let text = "";
      for await (const part of (await run(await createAgent(one), bench.question, { stream: true })).toTextStream()) text += part;
      return text;
    };
  },
};
