import { Agent } from "@earendil-works/pi-agent-core";
import { Type } from "@earendil-works/pi-ai";
import { stream } from "@earendil-works/pi-ai/api/openai-completions";
import * as bench from "../arm.ts";

export const arm: bench.Arm = {
  name: "pi",
  without: { pdf: "takes no PDF" },
  prepare: async (baseUrl) => {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const createTool = (name: "lookup" | "child") => ({
      name,
      label: name,
      description: name === "child" ? bench.childDescription : bench.lookupDescription,
      parameters: Type.Object({ key: Type.String() }),
      execute: async (_id: string, { key }: { key: string }) => ({
        content: [{ type: "text" as const, text: name === "child" ? await ask(bench.childCase) : bench.lookup(key) }],
        details: {},
      }),
    });
    const ask = async (one: bench.Case): Promise<string> => {
      const id = bench.modelOf(one);
      const about = { id, name: id, api: "openai-completions" as const, provider: "bench", baseUrl, reasoning: false };
      const model = { ...about, input: ["text" as const], cost, contextWindow: 1_000_000, maxTokens: 100_000 };
      const agent = new Agent({
        initialState: { systemPrompt: bench.instructions, model, tools: bench.toolsOf(one).map(createTool) as never },
        streamFn: ((m: never, context: never, options: object) => stream(m, context, { ...options, apiKey: "none" })) as never,
      });
      await agent.prompt(bench.question);
      const last = agent.state.messages.at(-1) as { content: readonly { type: string; text?: string }[]; errorMessage?: string };
      if (last.errorMessage) throw new Error(last.errorMessage);
      return last.content.map((part) => part.text ?? "").join("");
    };
    return ask;
  },
};
