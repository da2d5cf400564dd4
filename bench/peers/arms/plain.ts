// The loop that the floors have in common: messages as the wire has them, and no library.
import {
  type Case,
  childCase,
  childDescription,
  instructions,
  lookup,
  lookupDescription,
  modelOf,
  pdfName,
  pdfOf,
  question,
  toolsOf,
} from "../arm.ts";

export const parameters = {
  type: "object",
  properties: { key: { type: "string" } },
  required: ["key"],
  additionalProperties: false,
};

export type Post = (body: string) => Promise<string>;

export async function loop(post: Post, one: Case): Promise<string> {
  const tools = toolsOf(one).map((name) => ({
    type: "function",
    function: { name, description: name === "child" ? childDescription : lookupDescription, parameters },
  }));
  const messages: object[] = [
    { role: "system", content: instructions },
    { role: "user", content: one.kind === "pdf" ? [{ type: "text", text: question }, pdfPart()] : question },
  ];
  for (;;) {
    const body = JSON.stringify({ model: modelOf(one), messages, ...(tools.length > 0 ? { tools } : {}) });
    const [{ message }] = JSON.parse(await post(body)).choices;
    if (!message.tool_calls) return message.content;
    messages.push(message);
    const results = message.tool_calls.map(async (call: { id: string; function: { name: string; arguments: string } }) => {
      const { key } = JSON.parse(call.function.arguments);
      const content = call.function.name === "child" ? await loop(post, childCase) : lookup(key);
      return { role: "tool", tool_call_id: call.id, content };
    });
    messages.push(...(await Promise.all(results)));
  }
}

function pdfPart(): object {
  return { type: "file", file: { filename: pdfName, file_data: `data:application/pdf;base64,${pdfOf().toString("base64")}` } };
}

export const headers = { "content-type": "application/json", authorization: "Bearer none" };
