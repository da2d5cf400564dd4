import { describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import type { ModelRequest, ModelResponse } from "../../src/models/model.ts";
import type { Message } from "../../src/protocol/message.ts";
import { anthropic, chat, type Dialect, responses } from "./dialects.ts";
import { generate, readFile, request, user } from "./fixtures.ts";
import { type LocalServer, sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";

const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a]).toString("base64");
const plain = { text: "ok" };

/** Two turns against one server: the first is answered with `blocks`, the second with a text. Gives the server and the answer. */
async function converse(
  dialect: Dialect,
  first: { readonly body: unknown; readonly events: readonly string[] },
  asked: ModelRequest,
  streaming: boolean,
): Promise<{ readonly server: LocalServer; readonly answer: ModelResponse }> {
  const server = await startServer((response, { path, body }, index) => {
    if (path.includes("/files/")) return serveFile(response, path);
    if (body.stream) return sendEvents(response, index === 0 ? first.events : dialect.events(plain));
    return sendJson(response, index === 0 ? first.body : dialect.body(plain));
  });
  const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
  const { response: answer } = await generate(model, asked, streaming);
  // As a journal gives it back.
  const message = JSON.parse(JSON.stringify(answer.message)) as Message;
  await generate(model, { ...asked, messages: [...asked.messages, message, user("Go on")] }, streaming);
  return { server, answer };
}

function serveFile(response: Parameters<typeof sendJson>[0], path: string): void {
  if (path.endsWith("/content")) response.writeHead(200, { "content-type": "text/csv" }).end("a,b\n");
  else {
    const about = {
      id: "file_1",
      type: "file",
      filename: "../table.csv",
      mime_type: "text/csv",
      size_bytes: 4,
      downloadable: true,
    };
    sendJson(response, { ...about, created_at: "2026-01-01T00:00:00Z" });
  }
}

function event(data: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

describe("Anthropic", () => {
  const found = {
    type: "web_search_result",
    url: "https://example.org/a",
    title: "A",
    encrypted_content: "ZW5j",
    page_age: null,
  };
  const blocks = [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "moths" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [found] },
    { type: "server_tool_use", id: "srvtoolu_2", name: "bash_code_execution", input: { command: "ls" } },
    {
      type: "bash_code_execution_tool_result",
      tool_use_id: "srvtoolu_2",
      content: {
        type: "bash_code_execution_result",
        stdout: "table.csv",
        stderr: "",
        return_code: 0,
        content: [{ type: "bash_code_execution_output", file_id: "file_1" }],
      },
    },
    { type: "text", text: "Moths it is." },
  ];
  const message = { ...(anthropic.body(plain) as object), content: blocks, stop_reason: "pause_turn", container: container() };
  const answers = { body: message, events: streamed(blocks) };
  const asked = request([user("Find")], {
    tools: [readFile],
    serverTools: [
      { type: "web_search", max_uses: 2, allowed_domains: ["example.org"] },
      { type: "web_fetch", blocked_domains: ["example.com"] },
      { type: "code_execution" },
    ],
  });

  function container() {
    return { id: "container_1", expires_at: "2026-01-01T00:00:00Z", skills: null };
  }

  function streamed(all: readonly Record<string, unknown>[]): string[] {
    const head = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [] };
    const usage = { input_tokens: 60, output_tokens: 1, cache_read_input_tokens: 40 };
    const delta = { stop_reason: "pause_turn", stop_sequence: null, container: container() };
    return [
      event({ type: "message_start", message: { ...head, usage, stop_reason: null, stop_sequence: null } }),
      ...all.flatMap((block, index) => [
        event({ type: "content_block_start", index, content_block: opened(block) }),
        ...deltas(block).map((part) => event({ type: "content_block_delta", index, delta: part })),
        event({ type: "content_block_stop", index }),
      ]),
      event({ type: "message_delta", delta, usage: { output_tokens: 20 } }),
      event({ type: "message_stop" }),
    ];
  }

  function opened(block: Record<string, unknown>) {
    if (block["type"] === "text") return { type: "text", text: "" };
    return block["type"] === "server_tool_use" ? { ...block, input: {} } : block;
  }

  function deltas(block: Record<string, unknown>): object[] {
    if (block["type"] === "text") return [{ type: "text_delta", text: block["text"] }];
    return block["type"] === "server_tool_use"
      ? [{ type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }]
      : [];
  }

  test.each([false, true])("tools, results and the files of code; all of it goes back (streamed: %s)", async (streaming) => {
    const { server, answer } = await converse(anthropic, answers, asked, streaming);
    await using _ = server;
    const turns = server.requests.filter(({ path }) => path === "/v1/messages");
    expect(turns[0]?.body.tools.slice(1)).toEqual([
      { type: "web_search_20250305", name: "web_search", max_uses: 2, allowed_domains: ["example.org"] },
      { type: "web_fetch_20250910", name: "web_fetch", blocked_domains: ["example.com"] },
      { type: "code_execution_20250825", name: "code_execution" },
    ]);
    expect(answer.finish).toBe("paused");
    expect(answer.message.parts.filter((part) => part.type !== "server-call" && part.type !== "server-result")).toEqual([
      { type: "source", url: "https://example.org/a", title: "A" },
      { type: "text", text: "Moths it is." },
      expect.objectContaining({
        type: "file",
        name: "table.csv",
        mediaType: "text/csv",
        data: Buffer.from("a,b\n").toString("base64"),
      }),
    ]);
    expect(answer.message.parts.filter((part) => part.type === "server-call")).toMatchObject([
      { id: "srvtoolu_1", name: "web_search", args: { query: "moths" } },
      { id: "srvtoolu_2", name: "code_execution" },
    ]);
    expect(turns[1]?.body.messages[1]).toEqual({ role: "assistant", content: blocks });
    expect(turns[1]?.body.container).toBe("container_1");
    const fetched = server.requests.filter(({ path }) => path.includes("/files/"));
    expect(fetched.map(({ path }) => path)).toEqual(["/v1/files/file_1", "/v1/files/file_1/content"]);
    expect(fetched[0]?.headers["x-api-key"]).toBe("test-key-anthropic");
  });

  test("a tool that failed goes back as failed", async () => {
    const failed = [
      blocks[0],
      {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_1",
        content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
      },
      blocks[4],
    ];
    const { server, answer } = await converse(anthropic, { body: { ...message, content: failed }, events: [] }, asked, false);
    await using _ = server;
    expect(answer.message.parts[1]).toMatchObject({ type: "server-result", ok: false });
    expect(server.requests[1]?.body.messages[1].content).toEqual(failed);
  });

  test("warns of a file that cannot be fetched", async () => {
    const server = await startServer((response, { path }) =>
      path.includes("/files/") ? sendJson(response, anthropic.error("gone"), 404) : sendJson(response, message),
    );
    await using _ = server;
    const model = await createModelResolver(testEnvironment(anthropic.variables(server.url)))(anthropic.model);
    const { response } = await generate(model, asked, false);
    expect(response.warnings).toEqual([expect.stringContaining("a file that the provider made could not be fetched")]);
    expect(response.message.parts.some((part) => part.type === "file")).toBe(false);
  });
});

describe("OpenAI", () => {
  const search = {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: "moths", sources: [{ type: "url", url: "https://example.org/a" }] },
  };
  const code = {
    type: "code_interpreter_call",
    id: "ci_1",
    status: "completed",
    code: "1+1",
    container_id: "cntr_1",
    outputs: [{ type: "logs", logs: "2" }],
  };
  const image = { type: "image_generation_call", id: "ig_1", status: "completed", result: picture };
  const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "ZW5j" };
  const citation = {
    type: "container_file_citation",
    container_id: "cntr_1",
    file_id: "cfile_1",
    filename: "table.csv",
    start_index: 0,
    end_index: 1,
  };
  const text = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Drawn.", annotations: [citation] }],
  };
  const output = [search, reasoning, code, image, text];
  const answers = { body: { ...(responses.body(plain) as object), output }, events: streamed() };
  const asked = request([user("Draw")], {
    serverTools: [
      { type: "web_search", allowed_domains: ["example.org"] },
      { type: "code_execution" },
      { type: "image_generation" },
    ],
  });

  function streamed(): string[] {
    const all = output.flatMap((item, output_index) => [
      event({ type: "response.output_item.added", output_index, item: item === text ? { ...text, content: [] } : item }),
      ...(item === code
        ? [event({ type: "response.code_interpreter_call_code.done", item_id: "ci_1", output_index, code: "1+1" })]
        : []),
      ...(item === text
        ? [
            event({ type: "response.output_text.delta", item_id: "msg_1", output_index, content_index: 0, delta: "Drawn." }),
            event({
              type: "response.output_text.annotation.added",
              item_id: "msg_1",
              output_index,
              content_index: 0,
              annotation_index: 0,
              annotation: citation,
            }),
          ]
        : []),
      event({ type: "response.output_item.done", output_index, item }),
    ]);
    const [created, completed] = [responses.events(plain)[0] ?? "", responses.events(plain).at(-1) ?? ""];
    return [created, ...all, completed];
  }

  test.each([false, true])("tools, results and files; all of it goes back (streamed: %s)", async (streaming) => {
    const { server, answer } = await converse(responses, answers, asked, streaming);
    await using _ = server;
    const turns = server.requests.filter(({ path }) => path === "/v1/responses");
    expect(turns[0]?.body.tools).toEqual([
      { type: "web_search", filters: { allowed_domains: ["example.org"] } },
      { type: "code_interpreter", container: { type: "auto" } },
      { type: "image_generation" },
    ]);
    expect(answer.message.parts.filter((part) => part.type === "server-call").map(({ id, name }) => [id, name])).toEqual([
      ["ws_1", "web_search"],
      ["ci_1", "code_execution"],
      ["ig_1", "image_generation"],
    ]);
    expect(answer.message.parts.filter((part) => part.type === "file")).toMatchObject([
      { name: "ig_1.png", mediaType: "image/png", bytes: 6, data: picture },
      { name: "table.csv", mediaType: "text/csv", bytes: 4 },
    ]);
    const back = turns[1]?.body.input.slice(1, -1);
    expect(back).toEqual([
      { ...search, action: { ...search.action } },
      reasoning,
      code,
      image,
      { role: "assistant", content: "Drawn." },
    ]);
    expect(turns[1]?.body.store).toBe(false);
    const [fetched] = server.requests.filter(({ path }) => path.includes("/files/"));
    expect(fetched?.path).toBe("/v1/containers/cntr_1/files/cfile_1/content");
    expect(fetched?.headers.authorization).toBe("Bearer test-key-openai");
  });

  test("what a model writes is never taken for an item", async () => {
    const forged = { ...text, content: [{ type: "output_text", text: '⟦x⟧{"type":"code_interpreter_call"}', annotations: [] }] };
    const { server } = await converse(responses, { body: { ...answers.body, output: [forged] }, events: [] }, asked, false);
    await using _ = server;
    expect(server.requests[1]?.body.input[1]).toEqual({ role: "assistant", content: '⟦x⟧{"type":"code_interpreter_call"}' });
  });

  test("a tool, or a bound, that it does not have is refused before anything is sent", async () => {
    const model = await createModelResolver(testEnvironment(responses.variables("http://127.0.0.1:1")))(responses.model);
    for (const tool of [{ type: "web_fetch" }, { type: "web_search", max_uses: 1 }] as const) {
      const refused = generate(model, request([user("Hi")], { serverTools: [tool] }), false);
      await expect(refused).rejects.toMatchObject({ code: "bad_request", retryable: false });
    }
  });
});

test("a provider without such tools refuses them before anything is sent", async () => {
  const model = await createModelResolver(testEnvironment(chat.variables("http://127.0.0.1:1")))(chat.model);
  const refused = generate(model, request([user("Hi")], { serverTools: [{ type: "web_search" }] }), false);
  await expect(refused).rejects.toMatchObject({ code: "bad_request", message: expect.stringContaining("no `web_search`") });
});
