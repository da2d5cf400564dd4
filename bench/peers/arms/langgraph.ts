import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
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
  name: "LangGraph",
  prepare: async (baseURL) => {
    const schema = z.object({ key: z.string() });
    const all = {
      lookup: tool(async ({ key }) => lookup(key), { name: "lookup", description: lookupDescription, schema }),
      child: tool(() => ask(childCase), { name: "child", description: childDescription, schema }),
    };
    const createAgent = (one: Case) => {
      const llm = new ChatOpenAI({ model: modelOf(one), apiKey: "none", configuration: { baseURL }, maxRetries: 0 });
      return createReactAgent({ llm, tools: toolsOf(one).map((name) => all[name]), prompt: instructions });
    };
    const ask = async (one: Case): Promise<string> => {
      const file = () => ({ filename: pdfName, file_data: `data:application/pdf;base64,${pdfOf().toString("base64")}` });
      const content =
        one.kind === "pdf"
          ? [
              { type: "text", text: question },
              { type: "file", file: file() },
            ]
          : question;
      const messages = [{ role: "user", content }];
      const { messages: answered } = await createAgent(one).invoke({ messages }, { recursionLimit: 2 * mostTurns });
      return String(answered.at(-1)?.content);
    };
    return async (one) => {
      if (one.kind !== "text") return ask(one);
      let text = "";
      const messages = [{ role: "user", content: question }];
      for await (const [part] of await createAgent(one).stream({ messages }, { streamMode: "messages" })) text += part.content;
      return text;
    };
  },
};
