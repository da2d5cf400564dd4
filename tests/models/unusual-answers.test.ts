import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import { type ModelDelta, ModelError } from "../../src/models/model.ts";
import { anthropic, type Canned, chat, type Dialect, dialects, halves, responses } from "./dialects.ts";
import { type Generated, generate, options, readFile, request, user } from "./fixtures.ts";
import { type Answer, type Recorded, sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";

const canned: Canned = { text: "Grüße, Welt", calls: [{ id: "call_1", tool: "read_file", args: '{"path":"a.txt"}' }] };
const asked = request([user("Look")], { tools: [readFile] });

interface Outcome {
  readonly requests: readonly Recorded[];
  readonly generated?: Generated;
  readonly error?: unknown;
}

async function ask(dialect: Dialect, streaming: boolean, answer: Answer): Promise<Outcome> {
  await using server = await startServer(answer);
  const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
  try {
    return { generated: await generate(model, asked, streaming), requests: server.requests };
  } catch (error) {
    return { error, requests: server.requests };
  }
}

function partsOf({ generated, error }: Outcome): unknown {
  if (error) throw error;
  return generated?.response.message.parts.map((part) =>
    part.type === "text" ? part.text : part.type === "tool-call" ? [part.name, part.args] : part,
  );
}

const whole = [canned.text, ["read_file", { path: "a.txt" }]];

function sendText(response: ServerResponse, text: string, type = "text/event-stream"): void {
  response.writeHead(200, { "content-type": type }).end(text);
}

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))("%s", (_name, dialect) => {
  const events = dialect.events(canned).join("");

  test.each([
    ["carriage returns", events.replaceAll("\n", "\r")],
    ["carriage returns and line feeds", events.replaceAll("\n", "\r\n")],
    ["no blank line at the end", events.replace(/\n+$/, "\n")],
    ["no line end at the end", events.replace(/\n+$/, "")],
    ["a mark, comments, and fields of other names", `\uFEFF: hello\n\n${events.replaceAll("data: ", "retry: 1\nx: y\ndata:")}`],
  ])("a stream with %s", async (_kind, text) => {
    expect(partsOf(await ask(dialect, true, (response) => sendText(response, text)))).toEqual(whole);
  });

  test("the pieces of an answer stay apart where they came at once", async () => {
    const thought = { text: "Think", signature: "sig" };
    const text = dialect.events({ ...canned, reasoning: thought }).join("");
    await using server = await startServer((response) => sendText(response, text));
    const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
    const deltas: ModelDelta[] = [];
    const generated = await model.generate(asked, options({ onDelta: (delta) => deltas.push(delta) }));
    const typed = (type: ModelDelta["type"]) => (piece: string) => ({ type, text: piece });
    expect(deltas).toEqual([
      ...halves(thought.text).map(typed("reasoning-delta")),
      ...halves(canned.text ?? "").map(typed("text-delta")),
    ]);
    expect(partsOf({ requests: [], generated: { response: generated, deltas: "" } })).toEqual([
      expect.objectContaining({ type: "reasoning", text: thought.text }),
      ...whole,
    ]);
  });

  test("a stream that comes byte by byte, with returns as line ends", async () => {
    const bytes = Buffer.from(events.replaceAll("\n", "\r\n"));
    const outcome = await ask(dialect, true, (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let index = 0; index < bytes.length; index++) response.write(bytes.subarray(index, index + 1));
      response.end();
    });
    expect(partsOf(outcome)).toEqual(whole);
  });

  test("ignores events of an unknown kind", async () => {
    const known = dialect.events(canned);
    const unknown = 'data: {"type":"shiny_new","index":0,"x":[1]}\n\n';
    const outcome = await ask(dialect, true, (response) =>
      sendEvents(response, [unknown, ...known.flatMap((event) => [unknown, event])]),
    );
    expect(partsOf(outcome)).toEqual(whole);
    expect(outcome.requests).toHaveLength(1);
  });

  test("takes a whole answer in place of a stream, with its text as a delta", async () => {
    const outcome = await ask(dialect, true, (response) => sendJson(response, dialect.body(canned)));
    expect(partsOf(outcome)).toEqual(whole);
    expect(outcome.generated?.deltas).toBe(canned.text);
    expect(outcome.requests.map(({ body }) => body.stream)).toEqual([true]);
  });

  test.each([
    ["a page", "text/html", "<html>Sign in</html>"],
    ["a page that says it is events", "text/event-stream", "<html>Sign in</html>"],
    ["text", "text/plain", "Sign in"],
  ])("%s in the place of a stream is no answer, and asking again would not help", async (_kind, type, text) => {
    const { error } = await ask(dialect, true, (response) => sendText(response, text, type));
    expect(error).toMatchObject({ code: "bad_response", retryable: false });
    expect(String(error)).toContain("Sign in");
  });

  test("does not retry an answer that the library rejects", async () => {
    const wrong = { ...(dialect.body(canned) as object), content: 7, choices: 7, output: 7 };
    const { error } = await ask(dialect, false, (response) => sendJson(response, wrong));
    expect(error).toMatchObject({ code: "bad_response", retryable: false });
  });

  test.each([false, true])("an answer without end is refused, and its connection closed (streamed: %s)", async (streaming) => {
    let closed = Promise.resolve();
    const { error, requests } = await ask(dialect, streaming, (response) => {
      const piece = Buffer.alloc(2 ** 20, "a");
      closed = new Promise((resolve) => response.on("close", resolve));
      response.writeHead(200, { "content-type": streaming ? "text/event-stream" : "application/json" });
      const write = () => {
        if (!response.destroyed) response.write(piece, write);
      };
      write();
    });
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ code: "too_large", retryable: false });
    expect(String(error)).toContain("32 MiB");
    expect(requests).toHaveLength(1);
    await closed;
  });

  test("an answer that is nested without end is refused", async () => {
    const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
    const { error } = await ask(dialect, false, (response) => sendText(response, `{"x":${deep}}`, "application/json"));
    expect(error).toMatchObject({ code: "too_large", retryable: false });
    const streamed = await ask(dialect, true, (response) => sendText(response, `data: {"x":${deep}}\n\n${events}`));
    expect(streamed.error).toMatchObject({ code: "too_large", retryable: false });
  });

  test("shows the beginning of an endless error", async () => {
    const { error } = await ask(dialect, false, (response) => {
      response.writeHead(400, { "content-type": "text/plain" });
      const write = (): void => void (response.destroyed || response.write("No, because. ".repeat(10_000), write));
      write();
    });
    expect(error).toMatchObject({ code: "bad_request", status: 400, retryable: false });
    expect(String(error)).toContain("No, because.");
  });

  test.each([
    [{ detail: "maximum context length is 4096 tokens" }, "maximum context length is 4096 tokens"],
    [{ detail: [{ loc: ["body", "seed"], msg: "Field required" }] }, "Field required (body.seed)"],
    [{ error: "m does not support tools" }, "m does not support tools"],
    [[{ error: { code: 400, message: "API key not valid." } }], "API key not valid."],
    [{ message: "no such model" }, "no such model"],
    ["plain words", "plain words"],
    [
      {
        error: {
          message: "Provider returned error",
          metadata: { raw: '{"error":{"message":"too long"}}', provider_name: "Groq" },
        },
      },
      "Provider returned error; Groq: too long",
    ],
  ])("what a server says of an error reaches the user: %j", async (body, words) => {
    const { error } = await ask(dialect, false, (response) => {
      response.writeHead(400).end(typeof body === "string" ? body : JSON.stringify(body));
    });
    const code = words.includes("context length") ? "context_window" : "bad_request";
    expect(error).toMatchObject({ code, status: 400, retryable: false });
    expect(String(error)).toContain(`(HTTP 400): ${words}`);
  });
});

describe("unknown members", () => {
  test("blocks of the Messages API, streamed and not", async () => {
    const unknown = { type: "shiny_block", data: [1] };
    // A result without its call, which its library would look up.
    const lone = { type: "mcp_tool_result", tool_use_id: "none", is_error: false, content: [] };
    const body = anthropic.body(canned) as { content: unknown[] };
    const outcome = await ask(anthropic, false, (response) =>
      sendJson(response, { ...body, content: [unknown, lone, ...body.content, unknown] }),
    );
    expect(partsOf(outcome)).toEqual(whole);
    const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
    const block = [
      event({ type: "content_block_start", index: 9, content_block: unknown }),
      event({ type: "content_block_delta", index: 9, delta: { type: "shiny_delta", x: 1 } }),
      event({ type: "content_block_delta", index: 9, delta: { type: "text_delta", text: "not to be seen" } }),
      event({ type: "content_block_stop", index: 9 }),
    ];
    const [first = "", ...events] = anthropic.events(canned);
    const unknownDelta = event({ type: "content_block_delta", index: 0, delta: { type: "shiny_delta" } });
    const streamed = await ask(anthropic, true, (response) =>
      sendEvents(response, [first, ...block, events[0] ?? "", unknownDelta, ...events.slice(1)]),
    );
    expect(partsOf(streamed)).toEqual(whole);
  });

  test("items, parts and annotations of the Responses API", async () => {
    const body = responses.body(canned) as { output: { type: string; content?: object[] }[] };
    const [message, call] = body.output;
    const content = [{ ...message?.content?.[0], annotations: [{ type: "shiny" }] }, { type: "shiny_part" }];
    const output = [{ type: "shiny_item" }, { ...message, content }, call];
    const outcome = await ask(responses, false, (response) => sendJson(response, { ...body, output }));
    expect(partsOf(outcome)).toEqual(whole);
  });
});

describe("chat completions as servers write them", () => {
  type Call = { id?: string; type?: string; function: { name?: string | null; arguments?: unknown } };

  function withCalls(...calls: Call[]): object {
    const choice = { index: 0, finish_reason: "tool_calls", message: { role: "assistant", content: null, tool_calls: calls } };
    return { id: "c", created: 1, model: "m", choices: [choice] };
  }

  test("calls without arguments, with an object of them, and without a name", async () => {
    const outcome = await ask(chat, false, (response) =>
      sendJson(
        response,
        withCalls(
          { id: "a", function: { name: "read_file" } },
          { id: "b", function: { name: "read_file", arguments: null } },
          { id: "c", function: { name: "read_file", arguments: { path: "a" } } },
          { id: "d", function: { name: null, arguments: "{}" } },
        ),
      ),
    );
    expect(partsOf(outcome)).toEqual([
      ["read_file", {}],
      ["read_file", {}],
      ["read_file", { path: "a" }],
      ["unnamed", {}],
    ]);
  });

  test("takes a stream that only its end mark says is complete", async () => {
    const events = chat.events({ text: "fine" }).filter((event) => !event.includes('"stop"'));
    expect(partsOf(await ask(chat, true, (response) => sendEvents(response, events)))).toEqual(["fine"]);
    const cut = await ask(chat, true, (response) => sendEvents(response, events.slice(0, -1)));
    expect(cut.error).toMatchObject({ code: "broken_stream", retryable: true });
  });

  test("an error in a stream that is a text", async () => {
    const { error } = await ask(chat, true, (response) => sendEvents(response, ['data: {"error":"out of memory"}\n\n']));
    expect(String(error)).toContain("out of memory");
  });

  test("says how to start Ollama if it does not run", async () => {
    const model = await createModelResolver(testEnvironment({ OLLAMA_HOST: "http://127.0.0.1:9" }))("ollama:x");
    await expect(generate(model, asked, false)).rejects.toThrow("ollama serve");
  });
});
