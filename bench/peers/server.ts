// A server that speaks chat completions, without think time. `arm.ts` says what the cases are. Started with `fork`; sends its address to its
// parent, and the time of each request below `/timed/`. It answers "done" only to an agent that has sent what the case is about: the
// tools, each result, the PDF; otherwise it answers with what is missing.
import { createServer } from "node:http";
import { type Case, lookup, pdfOf, toolsOf } from "./arm.ts";

interface Request {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly stream?: boolean;
}

interface Reply {
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly name: string; readonly args: string }[];
}

function answer({ model, messages, tools = [] }: Request, body: string): Reply {
  const [kind, number] = model.split("-") as [Case["kind"], string];
  const one: Case = { kind, count: Number(number) };
  const wrong = (what: string): Reply => ({ text: [`wrong: ${what}`] });
  const named = tools.map((tool) => tool.function.name).join();
  if (named !== toolsOf(one).join()) return wrong(`its tools are ${named || "none"}`);
  if (kind === "text") return { text: Array.from({ length: one.count }, () => "word ") };
  if (kind === "pdf" && !body.includes(pdfEnd)) return wrong("no PDF");

  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content));
  const isAtOnce = kind === "calls" || kind === "children";
  const missing = results.findIndex((text, index) => !text.includes(kind === "children" ? "done" : lookup(`k${index}`)));
  if (missing >= 0) return wrong(`result ${missing} is ${results[missing]}`);
  if (results.length >= one.count) return { text: ["done"] };
  if (isAtOnce && results.length > 0) return wrong(`${results.length} results`);
  const name = kind === "children" ? "child" : "lookup";
  const length = isAtOnce ? one.count : 1;
  return { calls: Array.from({ length }, (_, index) => ({ name, args: `{"key":"k${results.length + index}"}` })) };
}

const pdfEnd = pdfOf().toString("base64").slice(-1000);
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
  const at = performance.timeOrigin + performance.now();
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const body = Buffer.concat(parts).toString();
    const asked: Request = JSON.parse(body);
    const { model, stream } = asked;
    if (request.url?.startsWith("/timed/")) process.send?.({ at });
    const reply = answer(asked, body);
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
  if (typeof address === "object") process.send?.(`http://127.0.0.1:${address?.port}`);
});
process.on("disconnect", () => process.exit());
