import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { runCli, writeProgram } from "../../cli/run-cli.ts";
import { anthropic, chat, type Dialect, responses } from "../../models/dialects.ts";
import { type Answer, sendJson, startServer } from "../../models/local-server.ts";
import { event, formsOf, mapEvents, openrouter, play, type Reply, type Wire, whole } from "./provider-world.ts";

const call = { id: "c1", tool: "note", args: '{"text":"x"}' };
const router = { ...chat, ...openrouter, name: "openrouter" };
const done = (dialect: Dialect) => whole(dialect, { text: "done" });

/** Options that turn on a tool, storage, another model, another text or another address, in the spellings that there are. */
const refused: readonly (readonly [Dialect, string, string])[] = [
  [anthropic, "mcpServers", "[{ type: url, name: x, url: 'https://evil.example' }]"],
  [anthropic, "container", "{ skills: [{ type: custom, skillId: x }] }"],
  [anthropic, "contextManagement", "{ edits: [{ type: compact_20260112 }] }"],
  [anthropic, "fallbacks", "[{ model: claude-x }]"],
  [anthropic, "tools", "[{ type: bash_20250124, name: bash }]"],
  [anthropic, "headers", "{ x-evil: y }"],
  [anthropic, "thinking", "{ type: enabled, budgetTokens: 1024, tools: [x] }"],
  [anthropic, "metadata", "{ userId: x, container: y }"],
  [responses, "store", "true"],
  [responses, "Store", "true"],
  [responses, "previousResponseId", "resp_1"],
  [responses, "previous_response_id", "resp_1"],
  [responses, "conversation", "conv_1"],
  [responses, "background", "true"],
  [responses, "instructions", "Obey."],
  [responses, "include", "[code_interpreter_call.outputs]"],
  [responses, "allowedTools", "{ toolNames: [x] }"],
  [router, "plugins", "[{ id: web }]"],
  [router, "models", "[evil/model]"],
  [router, "preset", "x"],
  [router, "web_search_options", "{}"],
  [router, "provider", "{ url: 'https://evil.example' }"],
  [router, "extra_body", "{ plugins: [] }"],
  [router, "tools", "[]"],
  [chat, "guided_json", "{}"],
  [chat, "chat_template", "'{{ x }}'"],
  [chat, "chat_template_kwargs", "{ chat_template: '{{ x }}' }"],
  [chat, "chat_template_kwargs", "{ tools: [{ type: function }] }"],
  [chat, "chat_template_kwargs", "{ documents: [{ text: x }] }"],
  [chat, "chat_template_kwargs", "{ messages: [] }"],
  [chat, "chat_template_kwargs", "{ tokenize: true }"],
  [chat, "chat_template_kwargs", "{ add_generation_prompt: false, conversation: [] }"],
  [chat, "extra_headers", "{ authorization: x }"],
  [chat, "base_url", "https://evil.example"],
  [chat, "__proto__", "{ tools: [] }"],
  [chat, "constructor", "{ prototype: {} }"],
];

const allowed: readonly (readonly [Dialect, string, string, Wire])[] = [
  [anthropic, "thinking", "{ type: enabled, budgetTokens: 1024 }", { thinking: { type: "enabled", budget_tokens: 1024 } }],
  [responses, "serviceTier", "flex", { service_tier: "flex", store: false }],
  [router, "provider", "{ only: [groq], data_collection: deny }", { provider: { only: ["groq"], data_collection: "deny" } }],
  [chat, "chat_template_kwargs", "{ enable_thinking: false }", { chat_template_kwargs: { enable_thinking: false } }],
];

describe("options of a provider in a worker file that nobody trusts", () => {
  const written = ({ model }: Dialect, name: string, value: string) =>
    `model_settings: { provider_options: { ${model.slice(0, model.indexOf(":"))}: { ${name}: ${value} } } }`;

  test.each(refused.map(([dialect, name, value]) => ({ dialect, name, value, at: dialect.name })))(
    "nothing is sent with $name: $value at $at",
    async ({ dialect, name, value }) => {
      const { error, requests } = await play({
        dialect,
        replies: [done(dialect)],
        frontmatter: written(dialect, name, value),
        trust: false,
      });
      expect(requests).toEqual([]);
      expect(error?.message).toMatch(/provider_options|__proto__/);
    },
  );

  test.each(allowed.map(([dialect, name, value, sent]) => ({ dialect, name, value, sent, at: dialect.name })))(
    "$name: $value is sent to $at",
    async ({ dialect, name, value, sent }) => {
      const { result, requests } = await play({ dialect, replies: [done(dialect)], frontmatter: written(dialect, name, value) });
      expect(result?.output).toBe("done");
      expect(requests[0]?.body).toMatchObject(sent);
    },
  );

  test("no header is made of a line end in a beta name", async () => {
    const frontmatter = written(anthropic, "anthropicBeta", '["a\\r\\nx-evil: 1"]');
    const { error, requests } = await play({ dialect: anthropic, replies: [done(anthropic)], frontmatter });
    expect(requests.map(({ headers }) => headers["x-evil"])).not.toContain("1");
    if (requests.length === 0) expect(error).toBeDefined();
  });
});

/** The next request has to hold the parts of an answer as they came. */
describe("goes back as it came", () => {
  const thoughts = [
    { type: "thinking", thinking: "First", signature: "c2lnMQ==" },
    { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
    { type: "thinking", thinking: "", signature: "c2lnMg==" },
    { type: "text", text: "Let me 👋\u2028 note." },
    { type: "tool_use", id: "toolu_1", name: "note", input: { text: "x\u0000\ud83d\ude00" } },
    { type: "tool_use", id: "toolu_2", name: "note", input: {} },
  ];

  test.each([false, true])("Anthropic's thoughts with their signatures, in their order (streamed: %s)", async (streaming) => {
    const [start = "", ...end] = anthropic.events({ finish: "tool_use" });
    const blocks = thoughts.flatMap((block: Wire, index) => {
      const open = {
        ...block,
        ...(block.thinking === undefined ? {} : { thinking: "", signature: "" }),
        ...(block.text ? { text: "" } : {}),
      };
      const deltas = [
        ...(block.thinking ? [{ type: "thinking_delta", thinking: block.thinking }] : []),
        ...(block.signature ? [{ type: "signature_delta", signature: block.signature }] : []),
        ...(block.text ? [{ type: "text_delta", text: block.text }] : []),
        ...(block.input ? [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }] : []),
      ];
      return [
        event({ type: "content_block_start", index, content_block: block.input ? { ...block, input: {} } : open }),
        ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
        event({ type: "content_block_stop", index }),
      ];
    });
    const body = { ...(anthropic.body({ finish: "tool_use" }) as object), content: thoughts };
    const reply = { body, events: [start, ...blocks, ...end] };
    const { requests, executed } = await play({ dialect: anthropic, streaming, replies: [reply, done(anthropic)] });
    expect(executed).toEqual([{ text: "x\u0000\ud83d\ude00" }, {}]);
    expect(requests[1]?.body.messages[1].content).toEqual(thoughts);
  });

  test.each([false, true])("OpenAI's thoughts, encrypted, before the call that they led to (streamed: %s)", async (streaming) => {
    const canned = {
      reasoning: { text: "I think", signature: "ZW5jcnlwdGVk" },
      text: "Let me note.",
      calls: [call, { ...call, id: "c2" }],
    };
    const { requests } = await play({ dialect: responses, streaming, replies: [whole(responses, canned), done(responses)] });
    const sent = requests[1]?.body.input.filter(({ role }: Wire) => role !== "user" && role !== "developer" && role !== "system");
    const order = sent.map(({ type, call_id: id, role: said }: Wire) => id ?? type ?? said);
    expect(order).toEqual(["reasoning", "assistant", "c1", "c2", "c1", "c2"]);
    expect(sent[0]).toMatchObject({ encrypted_content: "ZW5jcnlwdGVk", summary: [{ type: "summary_text", text: "I think" }] });
  });

  test.each([false, true])("Gemini's signature of a call (streamed: %s)", async (streaming) => {
    const extra = { google: { thought_signature: "c2ln" } };
    const { body, events } = whole(chat, { calls: [call] });
    (body as Wire).choices[0].message.tool_calls[0].extra_content = extra;
    const signed = mapEvents(events ?? [], (data) => {
      const [piece] = data.choices[0]?.delta.tool_calls ?? [];
      if (piece?.id) piece.extra_content = extra;
      return data;
    });
    const { requests } = await play({ dialect: chat, streaming, replies: [{ body, events: signed }, done(chat)] });
    expect(requests[1]?.body.messages.find(({ role }: Wire) => role === "assistant").tool_calls[0].extra_content).toEqual(extra);
  });

  test.each([
    [chat, "functions.note:0"],
    [chat, "call 1/ü"],
    [chat, "x".repeat(300)],
    [anthropic, "toolu_01-A_b"],
    [responses, "call_1|fc_2"],
  ])("an id: %o, %s", async (dialect, id) => {
    for (const streaming of [false, true]) {
      const replies = [whole(dialect, { calls: [{ ...call, id }] }), done(dialect)];
      const { requests, executed } = await play({ dialect, streaming, replies });
      expect(executed).toHaveLength(1);
      expect(dialect.results(requests[1] as never).map((result) => result.id)).toEqual([id]);
    }
  });

  test.each([chat, anthropic, responses])("two calls with one id: each gets its own result: $name", async (dialect) => {
    for (const streaming of [false, true]) {
      const replies = [whole(dialect, { calls: [call, { ...call, args: '{"text":"y"}' }] }), done(dialect)];
      const { result, requests, executed } = await play({ dialect, streaming, replies });
      expect(result?.output).toBe("done");
      expect(executed).toEqual([{ text: "x" }, { text: "y" }]);
      expect(new Set(dialect.results(requests[1] as never).map(({ id }) => id)).size).toBe(2);
    }
  });
});

const chunk = (delta: object, finish: string | null = null) =>
  event({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const deep = `{"text":${"[".repeat(60_000)}${"]".repeat(60_000)}}`;

describe("hostile data crashes and hangs nothing", () => {
  test.each([0, 1, 4_294_967_295, 9_007_199_254_740_991, 1e300, -1, 1.5])("a call with the index %d runs once", async (index) => {
    const events = [
      chunk({ tool_calls: [{ index, id: "c1", function: { name: "note", arguments: '{"text":' } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: '"x"}' } }] }),
      chunk({}, "tool_calls"),
      event("[DONE]"),
    ];
    const { result, executed } = await play({ dialect: chat, streaming: true, replies: [{ events }, done(chat)] });
    expect(executed).toEqual([{ text: "x" }]);
    expect(result?.output).toBe("done");
  });

  test.each([4_294_967_295, 1e300, -1])("a block with the index %d runs once", async (index) => {
    const events = mapEvents(anthropic.events({ calls: [call] }), (data) =>
      data.index === undefined ? data : { ...data, index },
    );
    const { executed } = await play({ dialect: anthropic, streaming: true, replies: [{ events }, done(anthropic)] });
    expect(executed).toEqual([{ text: "x" }]);
  });

  test.each([4_294_967_295, 1e300, -1])("an item with the index %d runs once", async (index) => {
    const events = mapEvents(responses.events({ calls: [call] }), (data) =>
      data.output_index === undefined ? data : { ...data, output_index: index },
    );
    const { executed } = await play({ dialect: responses, streaming: true, replies: [{ events }, done(responses)] });
    expect(executed).toEqual([{ text: "x" }]);
  });

  const nested: readonly (readonly [Dialect, Reply])[] = [
    [chat, whole(chat, { calls: [{ ...call, args: deep }] })],
    [responses, whole(responses, { calls: [{ ...call, args: deep }] })],
    [
      anthropic,
      {
        events: mapEvents(anthropic.events({ calls: [call] }), (data) =>
          data.delta?.partial_json
            ? { ...data, delta: { ...data.delta, partial_json: data.delta.partial_json.startsWith("{") ? deep : "" } }
            : data,
        ),
      },
    ],
  ];
  test.each(
    nested.flatMap(([dialect, reply]) => formsOf(reply).map((streaming) => ({ dialect, reply, streaming, at: dialect.name }))),
  )(
    "arguments that are nested without end do not run, and the model goes on: $at (streamed: $streaming)",
    async ({ dialect, reply, streaming }) => {
      const { result, executed } = await play({ dialect, streaming, replies: [reply, done(dialect)] });
      expect(executed).toEqual([]);
      expect(result?.output).toBe("done");
    },
  );

  test.each([
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "a".repeat(100_000),
    "note\nnote",
    "Note",
    "../note",
    "note ",
  ])("a call of a tool with an odd name is an unknown tool, and the model goes on: %#", async (tool) => {
    for (const dialect of [chat, anthropic, responses]) {
      const { result, executed } = await play({
        dialect,
        replies: [whole(dialect, { calls: [{ ...call, tool }] }), done(dialect)],
      });
      expect(result?.output).toBe("done");
      expect(executed).toEqual([]);
    }
  });

  test.each([chat, anthropic, responses])("a body that unpacks without end is refused: $name", async (dialect) => {
    const bomb = gzipSync(Buffer.alloc(33 * 2 ** 20, " "));
    for (const streaming of [false, true]) {
      const { error, requests } = await play({
        dialect,
        streaming,
        answer: (response) =>
          response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb) && undefined,
      });
      expect(error?.message).toContain("larger than 32 MiB");
      expect(requests).toHaveLength(1);
    }
  });

  test("a body that is packed is read", async () => {
    const { result } = await play({
      dialect: chat,
      answer: (response) =>
        void response
          .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
          .end(gzipSync(JSON.stringify(chat.body({ text: "done" })))),
    });
    expect(result?.output).toBe("done");
  });

  test("ten thousand calls that nobody can tell apart are no work without end", async () => {
    const begin = Array.from({ length: 10_000 }, () => ({ type: "function", function: { name: "note", arguments: "" } }));
    const pieces = Array.from({ length: 10_000 }, () => chunk({ tool_calls: [{ function: { arguments: "1" } }] }));
    const events = [chunk({ tool_calls: begin }), ...pieces, chunk({}, "tool_calls"), event("[DONE]")];
    const { error, executed } = await play({ dialect: chat, streaming: true, replies: [{ events }] });
    expect(executed).toEqual([]);
    expect(error?.message).toContain("more than 1000 tool calls");
  });

  test.each([chat, anthropic, responses])("an answer of ten thousand calls makes none of them: $name", async (dialect) => {
    const calls = Array.from({ length: 10_000 }, (_, n) => ({ ...call, id: `c${n}` }));
    const { error, executed } = await play({ dialect, replies: [whole(dialect, { calls })] });
    expect(executed).toEqual([]);
    expect(error?.message).toContain("more than 1000 tool calls");
  });

  test("a call whose name stands in each of its pieces runs once", async () => {
    const pieces = [...`{"text":"${"x".repeat(2000)}"}`].map((one) => ({
      index: 0,
      id: "c1",
      function: { name: "note", arguments: one },
    }));
    const events = [...pieces.map((piece) => chunk({ tool_calls: [piece] })), chunk({}, "tool_calls"), event("[DONE]")];
    const { executed } = await play({ dialect: chat, streaming: true, replies: [{ events }, done(chat)] });
    expect(executed).toEqual([{ text: "x".repeat(2000) }]);
  });

  test("an answer of a hundred calls makes all of them", async () => {
    const calls = Array.from({ length: 100 }, (_, n) => ({ ...call, id: `c${n}` }));
    const { executed } = await play({ dialect: chat, streaming: true, replies: [whole(chat, { calls }), done(chat)] });
    expect(executed).toHaveLength(100);
  });

  test.each<[string, Answer, number]>([
    ["no body and 204", (response) => void response.writeHead(204).end(), 5],
    ["an empty body", (response) => void response.writeHead(200, { "content-type": "application/json" }).end(), 5],
    ["null", (response) => sendJson(response, null), 1],
    ["a list", (response) => sendJson(response, []), 1],
    ["304", (response) => void response.writeHead(304).end(), 1],
    ["headers without end", (response) => void response.writeHead(200, { "x-long": "x".repeat(100_000) }).end(), 1],
    [
      "an error that wants to be asked again for ever",
      (response) => sendJson(response, chat.error("no"), 400, { "x-should-retry": "true" }),
      5,
    ],
    ["an error that wants no wait", (response) => sendJson(response, chat.error("no"), 429, { "retry-after-ms": "0" }), 5],
    ["a wait without end", (response) => sendJson(response, chat.error("no"), 429, { "retry-after": "9".repeat(400) }), 1],
    ["a connection that ends at once", (response) => void response.socket?.destroy(), 5],
  ])("%s ends as the provider's failure, after few requests", async (_, answer, most) => {
    for (const streaming of [false, true]) {
      const { error, requests } = await play({ dialect: chat, streaming, answer });
      expect(error).toMatchObject({ code: "provider" });
      expect(requests.length).toBeLessThanOrEqual(most);
    }
  });
});

describe("a key stays with its provider", () => {
  test.each([301, 302, 303, 307, 308])("where it redirects with HTTP %i", async (status) => {
    await using other = await startServer((response) => sendJson(response, chat.body({ text: "stolen" })));
    for (const streaming of [false, true]) {
      const { error } = await play({
        dialect: chat,
        streaming,
        answer: (response) => void response.writeHead(status, { location: `${other.url}/v1` }).end(),
      });
      expect(error).toMatchObject({ code: "provider" });
    }
    expect(other.requests).toEqual([]);
  });

  const key = Object.values(chat.variables("x"))[1] as string;
  test.each<[string, Answer]>([
    ["in an error", (response) => sendJson(response, chat.error(`bad key ${key}`), 400)],
    ["in a page", (response) => void response.writeHead(502, { "content-type": "text/html" }).end(`<b>${key}</b>`)],
    [
      "in a page that is no error",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end(`<b>${key}</b>`),
    ],
    [
      "in escapes",
      (response) =>
        void response
          .writeHead(400)
          .end(
            `{"error":{"message":"${[...key].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"}}`,
          ),
    ],
    ["in an address", (response) => sendJson(response, chat.error(`GET https://x/?key=${key}&a=b`), 400)],
    ["between tags", (response) => void response.writeHead(400).end(`<p>${key}</p>`)],
    [
      "in the words of the server behind a gateway",
      (response) => sendJson(response, { error: { message: "x", metadata: { raw: JSON.stringify({ error: key }) } } }, 400),
    ],
    [
      "in the error of a choice",
      (response) => sendJson(response, { choices: [{ error: { message: key, code: 400 }, message: { content: "" } }] }),
    ],
    ["in the text of an answer that is cut", (response) => sendJson(response, chat.body({ text: key, finish: key }))],
  ])("and is not shown where the provider gives it back %s", async (_, answer) => {
    const { error, result, events } = await play({ dialect: chat, answer });
    expect(`${error?.message} ${error?.trace} ${result?.reason} ${JSON.stringify(events)}`).not.toContain(key);
  });

  test.each(["anthropic", "Anthropic", "openai"])("where a program calls its own server `%s`", async (name) => {
    await using server = await startServer((response) => sendJson(response, chat.body({ text: "stolen" })));
    await play({
      dialect: {
        model: `${name}:claude-sonnet-4-5`,
        variables: () => ({
          ANTHROPIC_API_KEY: "sk-ant-own",
          OPENAI_API_KEY: "sk-own",
          ANTHROPIC_BASE_URL: server.url,
          OPENAI_BASE_URL: server.url,
        }),
      },
      files: { "/program/llm-do.yaml": `providers: { ${name}: { type: openai-compatible, base_url: "${server.url}/v1" } }\n` },
    });
    expect(JSON.stringify(server.requests)).not.toMatch(/sk-ant-own|sk-own/);
  });

  test("and to no server of a program that nobody trusts", async () => {
    await using server = await startServer((response) => sendJson(response, chat.body({ text: "stolen" })));
    await play({
      dialect: { model: "mine:x", variables: () => ({ OPENAI_API_KEY: "sk-own" }) },
      files: {
        "/program/llm-do.yaml": `providers: { mine: { type: openai-compatible, base_url: "${server.url}/v1", api_key: "\${OPENAI_API_KEY}" } }\n`,
      },
      trust: false,
    });
    expect(server.requests).toEqual([]);
  });
});

describe("the server's words reach the user", () => {
  const words = "the model x has no tools";
  const bodies: readonly (readonly [string, unknown])[] = [
    ["a title and its detail", { type: "about:blank", title: "Bad Request", status: 400, detail: words }],
    ["a general message and its detail", { message: "Bad Request", detail: words }],
    ["a general message and its errors", { message: "Validation failed", errors: [{ message: words }] }],
    ["a general error and its message", { error: "Bad Request", message: words }],
    ["a general error with details", { error: { message: "Invalid", details: [{ description: words }] } }],
    ["an inner error", { error: { code: "BadRequest", innererror: { message: words } } }],
    ["a name with a capital", { Message: words }],
    ["a fault", { fault: { faultstring: words } }],
    ["a description", { error: "invalid_request", error_description: words }],
    ["JSON in a text", { error: { message: JSON.stringify({ error: { message: words } }) } }],
    ["a text", words],
    ["a page", `<html><style>b{}</style><p>${words}</p></html>`],
    ["what no one knows", { reasons: { first: words } }],
  ];
  test.each(bodies)("from %s", async (_, body) => {
    const { error } = await play({
      dialect: chat,
      answer: (response) => void response.writeHead(400).end(typeof body === "string" ? body : JSON.stringify(body)),
    });
    expect(error?.message).toContain(words);
    expect(error?.message).toContain("HTTP 400");
  });

  test("from a nest without end", async () => {
    const body = `{"error":{"message":"${words}","x":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`;
    const { error } = await play({ dialect: chat, answer: (response) => void response.writeHead(400).end(body) });
    expect(error?.message).toContain(words);
  });

  test("without what moves the cursor or sets the title of a terminal", async () => {
    const said = "\u001b]0;owned\u0007\u001b[2J\u009b31m plain";
    await using server = await startServer((response) => sendJson(response, chat.error(said), 400));
    const cwd = await writeProgram({ "main.worker": "---\n---\nAnswer.\n" });
    const { exitCode, stderr } = await runCli([".", "x", "--model", chat.model, "--no-journal"], {
      cwd,
      env: chat.variables(server.url),
    });
    expect(exitCode).toBe(7);
    expect(stderr).toContain("plain");
    expect(stderr).not.toMatch(/[\u0007\u001b\u009b]/);
  });
});
