import { type Arm, type Case, modelOf, question } from "../arm.ts";
import { headers, loop } from "./plain.ts";

export const arm: Arm = {
  name: "fetch loop",
  floor: true,
  prepare: async (base) => {
    const url = `${base}/chat/completions`;
    const post = (body: string) => fetch(url, { method: "POST", headers, body });
    return async (one) => (one.kind === "text" ? stream(post, one) : loop(async (body) => (await post(body)).text(), one));
  },
};

async function stream(post: (body: string) => Promise<Response>, one: Case): Promise<string> {
  const messages = [{ role: "user", content: question }];
  const { body } = await post(JSON.stringify({ model: modelOf(one), messages, stream: true }));
  let text = "";
  let rest = "";
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: {")) text += JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "";
  }
  return text;
}
