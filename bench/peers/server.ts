// A server that speaks chat completions, without think time. `turns-N`: N turns that call `lookup`, then "done"; `calls-N`: N calls in one
// answer; `children-N`: N calls of `child`; `text-N`: N tokens. Started with `fork`; sends its address to its parent.
import { createServer } from "node:http";

interface Message {
  readonly role: string;
}

interface Reply {
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly name: string; readonly args: string }[];
}

function answer(model: string, messages: readonly Message[]): Reply {
  const [kind, number] = model.split("-");
  const most = Number(number);
  const results = messages.filter(({ role }) => role === "tool").length;
  if (kind === "text") return { text: Array.from({ length: most }, () => "word ") };
  const wanted = kind === "turns" ? (results < most ? 1 : 0) : results === 0 ? most : 0;
  const name = kind === "children" ? "child" : "lookup";
  const calls = Array.from({ length: wanted }, (_, index) => ({ name, args: `{"key":"k${results + index}"}` }));
  return wanted === 0 ? { text: ["done"] } : { calls };
}

let answered = 0;
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function whole(model: string, { text, calls }: Reply): string {
  const id = ++answered;
  const tool_calls = calls?.map(({ name, args }, index) => ({
    id: `call_${id}_${index}`,
    type: "function",
    function: { name, arguments: args },
  }));
  const message = { role: "assistant", content: text?.join("") ?? null, ...(tool_calls ? { tool_calls } : {}) };
  const finish_reason = tool_calls ? "tool_calls" : "stop";
  const choices = [{ index: 0, message, logprobs: null, finish_reason }];
  return JSON.stringify({ id: `c-${id}`, object: "chat.completion", created: 1, model, choices, usage });
}

function* chunks(model: string, { text, calls }: Reply): Generator<string> {
  const id = `c-${++answered}`;
  const chunk = (delta: object, finish_reason: string | null = null) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: 1, model, choices })}\n\n`;
  };
  yield chunk({ role: "assistant", content: "" });
  for (const word of text ?? []) yield chunk({ content: word });
  for (const [index, { name, args }] of (calls ?? []).entries())
    yield chunk({ tool_calls: [{ index, id: `${id}_${index}`, type: "function", function: { name, arguments: args } }] });
  yield chunk({}, calls ? "tool_calls" : "stop");
  yield `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: 1, model, choices: [], usage })}\n\n`;
  yield "data: [DONE]\n\n";
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { model, messages, stream } = JSON.parse(Buffer.concat(parts).toString());
    const reply = answer(model, messages);
    response.setHeader("content-type", stream ? "text/event-stream" : "application/json");
    if (!stream) return response.end(whole(model, reply));
    // As providers do: a few tokens in a packet.
    let packet = "";
    for (const chunk of chunks(model, reply)) {
      packet += chunk;
      if (packet.length < 4000) continue;
      response.write(packet);
      packet = "";
    }
    return response.end(packet);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") process.send?.(`http://127.0.0.1:${address?.port}/v1`);
});
process.on("disconnect", () => process.exit());
