// A loop over the provider library that llm-do and the AI SDK have in common.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as bench from "../arm.ts";
import { parameters } from "./plain.ts";

export const arm: bench.Arm = {
  name: "provider library, own loop",
  floor: true,
  without: { children: "not written", text: "not written" },
  prepare: async (baseURL) => {
    const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none" });
    return async (one) => {
      const model = provider(bench.modelOf(one));
      const pdf = {
        type: "file",
        mediaType: "application/pdf",
        filename: bench.pdfName,
        data: { type: "data", data: bench.pdfOf() },
      } as const;
      const prompt: Parameters<typeof model.doGenerate>[0]["prompt"] = [
        { role: "system", content: bench.instructions },
        { role: "user", content: [{ type: "text", text: bench.question }, ...(one.kind === "pdf" ? [pdf] : [])] },
      ];
      const tools = bench
        .toolsOf(one)
        .map(
          (name) => ({ type: "function", name, description: bench.lookupDescription, inputSchema: parameters as never }) as const,
        );
      for (;;) {
        const { content } = await model.doGenerate({ prompt, ...(tools.length > 0 ? { tools } : {}) });
        const calls = content.filter((part) => part.type === "tool-call");
        if (calls.length === 0) return content.map((part) => (part.type === "text" ? part.text : "")).join("");
        prompt.push({ role: "assistant", content: calls.map((call) => ({ ...call, input: JSON.parse(call.input) })) });
        prompt.push({
          role: "tool",
          content: calls.map(({ toolCallId, toolName, input }) => {
            const output = { type: "text" as const, value: bench.lookup(JSON.parse(input).key) };
            return { type: "tool-result" as const, toolCallId, toolName, output };
          }),
        });
      }
    };
  },
};
