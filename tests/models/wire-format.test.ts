import { describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import type { AssistantMessage, Message } from "../../src/protocol/message.ts";
import { anthropic, chat, type Dialect, dialects, responses } from "./dialects.ts";
import { file, generate, listFiles, readFile, request, user } from "./fixtures.ts";
import { sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";

const pdf = file("deck.pdf", "application/pdf", "%PDF-1.7 deck");
const image = file("logo.png", "image/png", new Uint8Array([0x89, 0x50, 0x4e, 0x47]));
const note = file("note.md", "text/markdown", "# Grüße");

/** A conversation with everything in it: files, parallel calls, an error, invalid arguments. */
const conversation: readonly Message[] = [
  user("Evaluate", pdf, image, note),
  {
    role: "assistant",
    parts: [
      { type: "text", text: "Looking." },
      { type: "tool-call", id: "call_1", name: "read_file", args: { path: "a" } },
      { type: "tool-call", id: "call_2", name: "list_files", args: null, invalidArgs: "{oops" },
    ],
  },
  {
    role: "tool",
    parts: [
      { type: "tool-result", id: "call_1", name: "read_file", result: { ok: true, value: "plain text" } },
      {
        type: "tool-result",
        id: "call_2",
        name: "list_files",
        result: { ok: false, error: { error: "no valid JSON", type: "invalid_arguments", hint: "send JSON" } },
      },
    ],
  },
];

async function sent(dialect: Dialect, asked: ModelRequest, streaming = false) {
  await using server = await startServer((response, { body }) =>
    body.stream ? sendEvents(response, dialect.events({ text: "ok" })) : sendJson(response, dialect.body({ text: "ok" })),
  );
  const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
  const { response } = await generate(model, asked, streaming);
  const [recorded] = server.requests;
  if (!recorded) throw new Error("nothing was sent");
  return { ...recorded, response };
}

const full = request(conversation, { system: ["You evaluate.", "Be strict."], tools: [readFile, listFiles] });
const cache_control = { type: "ephemeral" };
const error = { error: "no valid JSON", type: "invalid_arguments", hint: "send JSON" };

test("Anthropic messages", async () => {
  const { path, headers, body } = await sent(anthropic, full);
  expect(path).toBe("/v1/messages");
  expect(headers).toMatchObject({ "x-api-key": "test-key-anthropic", "anthropic-version": "2023-06-01" });
  expect(body.system).toEqual([
    { type: "text", text: "You evaluate." },
    { type: "text", text: "Be strict.", cache_control },
  ]);
  expect(body.messages).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "Evaluate" },
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: pdf.data },
          title: "deck.pdf",
        },
        { type: "image", source: { type: "base64", media_type: "image/png", data: image.data } },
        { type: "text", text: "File note.md:\n\n# Grüße", cache_control },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "Looking." },
        { type: "tool_use", id: "call_1", name: "read_file", input: { path: "a" } },
        { type: "tool_use", id: "call_2", name: "list_files", input: { invalid_arguments: "{oops" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_1", content: "plain text" },
        { type: "tool_result", tool_use_id: "call_2", content: JSON.stringify(error), is_error: true, cache_control },
      ],
    },
  ]);
  expect(body.tool_choice).toEqual({ type: "auto" });
  expect(body.tools).toMatchObject([
    { name: "read_file", description: "Reads a file", input_schema: readFile.inputSchema },
    { name: "list_files", input_schema: { type: "object" }, cache_control },
  ]);
});

test("OpenAI responses", async () => {
  const { path, headers, body } = await sent(responses, full);
  expect(path).toBe("/v1/responses");
  expect(headers.authorization).toBe("Bearer test-key-openai");
  expect(body.store).toBe(false);
  expect(body.input).toEqual([
    { role: "developer", content: "You evaluate." },
    { role: "developer", content: "Be strict." },
    {
      role: "user",
      content: [
        { type: "input_text", text: "Evaluate" },
        { type: "input_file", filename: "deck.pdf", file_data: `data:application/pdf;base64,${pdf.data}` },
        { type: "input_image", image_url: `data:image/png;base64,${image.data}` },
        { type: "input_text", text: "File note.md:\n\n# Grüße" },
      ],
    },
    { role: "assistant", content: "Looking." },
    { type: "function_call", call_id: "call_1", name: "read_file", arguments: '{"path":"a"}' },
    { type: "function_call", call_id: "call_2", name: "list_files", arguments: '{"invalid_arguments":"{oops"}' },
    { type: "function_call_output", call_id: "call_1", output: "plain text" },
    { type: "function_call_output", call_id: "call_2", output: JSON.stringify({ error }) },
  ]);
  expect(body.tools[1]).toEqual({
    type: "function",
    name: "list_files",
    description: "Lists files",
    parameters: { type: "object", properties: {} },
    strict: false,
  });
});

test("chat completions", async () => {
  const { path, headers, body } = await sent(chat, full);
  expect(path).toBe("/v1/chat/completions");
  expect(headers.authorization).toBe("Bearer test-key-chat");
  expect(body.messages).toEqual([
    { role: "system", content: "You evaluate." },
    { role: "system", content: "Be strict." },
    {
      role: "user",
      content: [
        { type: "text", text: "Evaluate" },
        { type: "file", file: { filename: "deck.pdf", file_data: `data:application/pdf;base64,${pdf.data}` } },
        { type: "image_url", image_url: { url: `data:image/png;base64,${image.data}` } },
        { type: "text", text: "File note.md:\n\n# Grüße" },
      ],
    },
    {
      role: "assistant",
      content: "Looking.",
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } },
        { id: "call_2", type: "function", function: { name: "list_files", arguments: '{"invalid_arguments":"{oops"}' } },
      ],
    },
    { role: "tool", tool_call_id: "call_1", content: "plain text" },
    { role: "tool", tool_call_id: "call_2", content: JSON.stringify(error) },
  ]);
  expect(body.tools[0]).toMatchObject({ type: "function", function: { name: "read_file", parameters: readFile.inputSchema } });
});

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))("%s", (_name, dialect) => {
  test.each([false, true])("never sends the worker or the call path (streamed: %s)", async (streaming) => {
    const { body, headers } = await sent(dialect, full, streaming);
    expect(JSON.stringify({ body, headers })).not.toMatch(/secret_worker|7\.path/);
    expect(body.stream ?? false).toBe(streaming);
  });

  test("settings and provider options", async () => {
    const provider_options = {
      anthropic: { effort: "high", cacheControl: { type: "ephemeral" }, thinking: { type: "enabled", budgetTokens: 2000 } },
      openai: { textVerbosity: "low", serviceTier: "flex" },
      "openai-compatible": { top_k: 4, chat_template_kwargs: { enable_thinking: false } },
    };
    const settings = { max_output_tokens: 500, provider_options };
    const { body } = await sent(dialect, request([user("Hi")], { settings }));
    const { max_tokens, max_output_tokens, messages, input: _input, model: _model, stream: _stream, ...others } = body;
    expect([max_tokens, max_output_tokens].some((most) => most >= 500)).toBe(true);
    const expected: Record<string, object> = {
      anthropic: {
        output_config: { effort: "high" },
        thinking: { type: "enabled", budget_tokens: 2000 },
      },
      openai: { text: { verbosity: "low" }, service_tier: "flex", store: false, include: ["reasoning.encrypted_content"] },
      "openai-compatible": { top_k: 4, chat_template_kwargs: { enable_thinking: false } },
    };
    expect(others).toEqual(expected[dialect.name]);
    if (dialect.name === "anthropic") expect(messages[0].content).toEqual([{ type: "text", text: "Hi", cache_control }]);
  });

  test("never sends an option that is in no list", async () => {
    for (const options of [{ mcpServers: [] }, { store: true }, { messages: [] }, { plugins: [] }, { __proto__x: 1 }]) {
      const settings = { provider_options: { [dialect.name]: options as never } };
      await expect(sent(dialect, request([user("Hi")], { settings }))).rejects.toMatchObject({ code: "bad_request" });
    }
  });

  test("reasoning goes back as it came", async () => {
    const reasoning = { text: "I think", signature: "c2lnbmVkIQ" };
    const canned = { reasoning, calls: [{ id: "call_1", tool: "read_file", args: '{"path":"a"}' }] };
    for (const streaming of [false, true]) {
      await using server = await startServer((response, { body }) =>
        body.stream ? sendEvents(response, dialect.events(canned)) : sendJson(response, dialect.body(canned)),
      );
      const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
      const first = request([user("Hi")], { tools: [readFile] });
      const { response } = await generate(model, first, streaming);
      // As a journal gives it back.
      const message = JSON.parse(JSON.stringify(response.message)) as AssistantMessage;
      const result: Message = {
        role: "tool",
        parts: [{ type: "tool-result", id: "call_1", name: "read_file", result: { ok: true, value: [1] } }],
      };
      await generate(model, { ...first, messages: [...first.messages, message, result] }, streaming);
      const again = server.requests[1];
      expect(JSON.stringify(again?.body)).toContain("I think");
      if (dialect !== chat) expect(JSON.stringify(again?.body)).toContain("c2lnbmVkIQ");
      expect(again && dialect.results(again)).toEqual([{ id: "call_1", content: "[1]" }]);
    }
  });

  test("an answer of a declared form", async () => {
    const loose = { type: "object", properties: { score: { type: "integer" } } };
    const strict = { ...loose, required: ["score"], additionalProperties: false };
    const formats = [];
    for (const output of [loose, strict]) {
      const { body } = await sent(dialect, request([user("Hi")], { output }));
      formats.push(body.output_config?.format ?? body.text?.format ?? body.response_format);
    }
    expect(formats.map((format) => format.type)).toEqual(["json_schema", "json_schema"]);
    const strictness = formats.map((format) => format.strict ?? format.json_schema?.strict);
    expect(strictness).toEqual(dialect === anthropic ? [undefined, undefined] : [false, true]);
  });

  test("a declared form beside tools", async () => {
    const output = { type: "object", properties: { score: { type: "integer" } } };
    const { body } = await sent(dialect, request([user("Hi")], { output, tools: [readFile], system: ["Sys"] }));
    const format = body.output_config?.format ?? body.text?.format ?? body.response_format;
    expect(format === undefined).toBe(dialect === chat);
    if (dialect !== chat) return;
    expect(body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(["read_file", "final_answer"]);
    expect(body.tools[1].function.parameters).toEqual(output);
    expect(body.tool_choice).toBe("auto");
  });

  test("empty texts are left out", async () => {
    const messages: Message[] = [user("Hi"), { role: "assistant", parts: [] }, user(""), user("There")];
    const { body } = await sent(dialect, request(messages, { system: ["", "Sys"] }));
    expect(JSON.stringify(body)).not.toContain('""');
  });

  test("a file that the provider does not take is refused before anything is sent", async () => {
    const bad = file("a.zip", "application/zip", "PK");
    await expect(sent(dialect, request([user("Hi", bad)]))).rejects.toMatchObject({ code: "bad_request", retryable: false });
  });
});
