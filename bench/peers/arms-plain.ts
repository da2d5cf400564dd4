// The floors: no agent library at all.
import { Agent, request } from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type Arm, type Case, instructions, lookup, lookupDescription, question } from "./arm.ts";

const parameters = { type: "object", properties: { key: { type: "string" } }, required: ["key"], additionalProperties: false };
const tools = ["lookup", "child"].map((name) => ({
  type: "function",
  function: { name, description: lookupDescription, parameters },
}));

type Post = (path: string, body: string) => Promise<string>;

async function loop(post: Post, model: string): Promise<string> {
  const messages: object[] = [
    { role: "system", content: instructions },
    { role: "user", content: question },
  ];
  for (;;) {
    const body = JSON.stringify({ model, messages, tools });
    const [{ message }] = JSON.parse(await post("/chat/completions", body)).choices;
    if (!message.tool_calls) return message.content;
    messages.push(message);
    const results = message.tool_calls.map(async (call: { id: string; function: { name: string; arguments: string } }) => {
      const { key } = JSON.parse(call.function.arguments);
      const content = call.function.name === "child" ? await loop(post, "turns-0") : lookup(key);
      return { role: "tool", tool_call_id: call.id, content };
    });
    messages.push(...(await Promise.all(results)));
  }
}

const headers = { "content-type": "application/json", authorization: "Bearer none" };
const kinds = ["turns", "calls", "children"] as const;

export const fetchLoop: Arm = {
  name: "fetch loop",
  kinds: [...kinds, "text"],
  prepare:
    async (base) =>
    async (model, { kind }: Case) => {
      if (kind !== "text")
        return loop(async (path, body) => (await fetch(base + path, { method: "POST", headers, body })).text(), model);
      const body = JSON.stringify({ model, messages: [{ role: "user", content: question }], stream: true });
      const { body: stream } = await fetch(`${base}/chat/completions`, { method: "POST", headers, body });
      let text = "";
      let rest = "";
      for await (const part of stream?.pipeThrough(new TextDecoderStream()) ?? []) {
        const lines = (rest + part).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines)
          if (line.startsWith("data: {")) text += JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "";
      }
      return text;
    },
};

export const httpLoop: Arm = {
  name: "node:http loop",
  kinds,
  prepare: async (base) => {
    const agent = new Agent({ keepAlive: true });
    const post: Post = (path, body) =>
      new Promise((resolve, reject) => {
        const length = { "content-length": Buffer.byteLength(body) };
        const sent = request(base + path, { method: "POST", agent, headers: { ...headers, ...length } }, (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.on("end", () => resolve(Buffer.concat(parts).toString()));
        });
        sent.on("error", reject);
        sent.end(body);
      });
    return (model) => loop(post, model);
  },
};

export const providerLoop: Arm = {
  name: "AI SDK provider, own loop",
  kinds: ["turns", "calls"],
  prepare: async (baseURL) => {
    const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none" });
    return async (id) => {
      const model = provider(id);
      const prompt: Parameters<typeof model.doGenerate>[0]["prompt"] = [
        { role: "system", content: instructions },
        { role: "user", content: [{ type: "text", text: question }] },
      ];
      for (;;) {
        const { content } = await model.doGenerate({
          prompt,
          tools: [{ type: "function", name: "lookup", description: lookupDescription, inputSchema: parameters as never }],
        });
        const calls = content.filter((part) => part.type === "tool-call");
        if (calls.length === 0) return content.map((part) => (part.type === "text" ? part.text : "")).join("");
        prompt.push({ role: "assistant", content: calls.map((call) => ({ ...call, input: JSON.parse(call.input) })) });
        prompt.push({
          role: "tool",
          content: calls.map(({ toolCallId, toolName, input }) => {
            const output = { type: "text" as const, value: lookup(JSON.parse(input).key) };
            return { type: "tool-result" as const, toolCallId, toolName, output };
          }),
        });
      }
    };
  },
};
