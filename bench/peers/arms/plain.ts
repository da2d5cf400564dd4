// The loop that the floors have in common: messages as the wire has them, and no library.
import * as bench from "../arm.ts";

export const parameters = {
  type: "object",
  properties: { key: { type: "string" } },
  required: ["key"],
  additionalProperties: false,
};

export type Post = (body: string) => Promise<string>;

export async function loop(post: Post, one: bench.Case): Promise<string> {
  const tools = bench.toolsOf(one).map((name) => ({
    type: "function",
    function: { name, description: name === "child" ? bench.childDescription : bench.lookupDescription, parameters },
  }));
  const messages: object[] = [
    { role: "system", content: bench.instructions },
    { role: "user", content: one.kind === "pdf" ? [{ type: "text", text: bench.question }, pdfPart()] : bench.question },
  ];
  for (;;) {
    const body = JSON.stringify({ model: bench.modelOf(one), messages, ...(tools.length > 0 ? { tools } : {}) });
    const [{ message }] = JSON.parse(await post(body)).choices;
    if (!message.tool_calls) return message.content;
    messages.push(message);
    const results = message.tool_calls.map(async (call: { id: string; function: { name: string; arguments: string } }) => {
      const { key } = JSON.parse(call.function.arguments);
      const content = call.function.name === "child" ? await loop(post, bench.childCase) : bench.lookup(key);
      return { role: "tool", tool_call_id: call.id, content };
    });
    messages.push(...(await Promise.all(results)));
  }
}

function pdfPart(): object {
  return {
    type: "file",
    file: { filename: bench.pdfName, file_data: `data:application/pdf;base64,${bench.pdfOf().toString("base64")}` },
  };
}

export const headers = { "content-type": "application/json", authorization: "Bearer none" };
