// Other agent libraries, each as its documentation shows it.
import type { Arm } from "./arm.ts";
import { instructions, lookup, lookupDescription, mostTurns, question } from "./arm.ts";

export const aiSdk: Arm = {
  name: "AI SDK",
  kinds: ["turns", "calls", "children", "text"],
  prepare: async (baseURL) => {
    const { generateText, isStepCount, streamText, tool } = await import("ai");
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const { z } = await import("zod");
    const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none" });
    const input = z.object({ key: z.string() });
    const ask = async (model: string): Promise<string> => {
      const tools = {
        lookup: tool({ description: lookupDescription, inputSchema: input, execute: async ({ key }) => lookup(key) }),
        child: tool({ description: lookupDescription, inputSchema: input, execute: () => ask("turns-0") }),
      };
      const about = { model: provider(model), instructions, prompt: question, tools };
      return (await generateText({ ...about, stopWhen: isStepCount(mostTurns) })).text;
    };
    return async (model, { kind }) => {
      if (kind !== "text") return ask(model);
      let text = "";
      for await (const part of streamText({ model: provider(model), prompt: question }).textStream) text += part;
      return text;
    };
  },
};

export const openaiAgents: Arm = {
  name: "OpenAI Agents",
  kinds: ["turns", "calls"],
  prepare: async (baseURL) => {
    const { Agent, OpenAIProvider, run, setTracingDisabled, tool } = await import("@openai/agents");
    const { z } = await import("zod");
    setTracingDisabled(true);
    const provider = new OpenAIProvider({ apiKey: "none", baseURL, useResponses: false });
    const tools = [
      tool({
        name: "lookup",
        description: lookupDescription,
        parameters: z.object({ key: z.string() }),
        execute: async ({ key }) => lookup(key),
      }),
    ];
    return async (model) => {
      const agent = new Agent({ name: "main", instructions, model: await provider.getModel(model), tools });
      return String((await run(agent, question, { maxTurns: mostTurns })).finalOutput);
    };
  },
};

export const langGraph: Arm = {
  name: "LangGraph",
  kinds: ["turns", "calls"],
  prepare: async (baseURL) => {
    const { createReactAgent } = await import("@langchain/langgraph/prebuilt");
    const { ChatOpenAI } = await import("@langchain/openai");
    const { tool } = await import("@langchain/core/tools");
    const { z } = await import("zod");
    const schema = z.object({ key: z.string() });
    const tools = [tool(async ({ key }) => lookup(key), { name: "lookup", description: lookupDescription, schema })];
    return async (model) => {
      const llm = new ChatOpenAI({ model, apiKey: "none", configuration: { baseURL }, maxRetries: 0 });
      const agent = createReactAgent({ llm, tools, prompt: instructions });
      const messages = [{ role: "user", content: question }];
      const { messages: all } = await agent.invoke({ messages }, { recursionLimit: 2 * mostTurns });
      return String(all.at(-1)?.content);
    };
  },
};

export const mastra: Arm = {
  name: "Mastra",
  kinds: ["turns", "calls"],
  prepare: async (baseURL) => {
    const { Agent } = await import("@mastra/core/agent");
    const { createTool } = await import("@mastra/core/tools");
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const { z } = await import("zod");
    const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none" });
    const tools = {
      lookup: createTool({
        id: "lookup",
        description: lookupDescription,
        inputSchema: z.object({ key: z.string() }),
        execute: async ({ key }) => lookup(key),
      }),
    };
    return async (model) => {
      const agent = new Agent({ id: "main", name: "main", instructions, model: provider(model) as never, tools });
      return (await agent.generate(question, { maxSteps: mostTurns })).text;
    };
  },
};

export const pi: Arm = {
  name: "pi",
  kinds: ["turns", "calls", "text"],
  prepare: async (baseUrl) => {
    const { Agent } = await import("@earendil-works/pi-agent-core");
    const { stream } = await import("@earendil-works/pi-ai/api/openai-completions");
    const { Type } = await import("@earendil-works/pi-ai");
    const tool = {
      name: "lookup",
      label: "lookup",
      description: lookupDescription,
      parameters: Type.Object({ key: Type.String() }),
      execute: async (_id: string, { key }: { key: string }) => ({
        content: [{ type: "text" as const, text: lookup(key) }],
        details: {},
      }),
    };
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    return async (id) => {
      const about = { id, name: id, api: "openai-completions" as const, provider: "bench", baseUrl, reasoning: false };
      const model = { ...about, input: ["text" as const], cost, contextWindow: 1_000_000, maxTokens: 100_000 };
      const agent = new Agent({
        initialState: { systemPrompt: instructions, model, tools: [tool] as never },
        streamFn: ((m: never, context: never, options: object) => stream(m, context, { ...options, apiKey: "none" })) as never,
      });
      await agent.prompt(question);
      const last = agent.state.messages.at(-1) as { content: readonly { type: string; text?: string }[]; errorMessage?: string };
      if (last.errorMessage) throw new Error(last.errorMessage);
      return last.content.map((part) => part.text ?? "").join("");
    };
  },
};
