import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import * as bench from "../arm.ts";

export const arm: bench.Arm = {
  name: "LangGraph",
  prepare: async (baseURL) => {
    const schema = z.object({ key: z.string() });
    const all = {
      lookup: tool(async ({ key }) => bench.lookup(key), { name: "lookup", description: bench.lookupDescription, schema }),
      child: tool(() => ask(bench.childCase), { name: "child", description: bench.childDescription, schema }),
    };
    const createAgent = (one: bench.Case) => {
      const llm = new ChatOpenAI({ model: bench.modelOf(one), apiKey: "none", configuration: { baseURL }, maxRetries: 0 });
      return createReactAgent({ llm, tools: bench.toolsOf(one).map((name) => all[name]), prompt: bench.instructions });
    };
    const ask = async (one: bench.Case): Promise<string> => {
      const file = () => ({
        filename: bench.pdfName,
        file_data: `data:application/pdf;base64,${bench.pdfOf().toString("base64")}`,
      });
      const content =
        one.kind === "pdf"
          ? [
              { type: "text", text: bench.question },
              { type: "file", file: file() },
            ]
          : bench.question;
      const messages = [{ role: "user", content }];
      const { messages: answered } = await createAgent(one).invoke({ messages }, { recursionLimit: 2 * bench.mostTurns });
      return String(answered.at(-1)?.content);
    };
    return async (one) => {
      if (one.kind !== "text") return ask(one);
      let text = "";
      const messages = [{ role: "user", content: bench.question }];
      for await (const [part] of await createAgent(one).stream({ messages }, { streamMode: "messages" })) text += part.content;
      return text;
    };
  },
};
