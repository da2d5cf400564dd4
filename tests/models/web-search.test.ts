import { expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import type { Message } from "../../src/protocol/message.ts";
import { generate, readFile, request, user } from "./fixtures.ts";
import { asksForStream, sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";
import { searchRows } from "./search-rows.ts";

/* Those of Anthropic and OpenAI, with their other tools, are in server-tools.test.ts. */

const rows = searchRows.flatMap((row) => [false, true].map((streaming) => [row.name, streaming, row] as const));

test.each(rows)("%s searches the web, and its answer goes back (streamed: %s)", async (name, streaming, row) => {
  await using server = await startServer((response, recorded) =>
    asksForStream(recorded) ? sendEvents(response, row.events) : sendJson(response, row.body),
  );
  const prefix = `${name.toUpperCase()}_BASE_URL`;
  const environment = testEnvironment({ [prefix]: server.url, [`${prefix}_KEY`]: "key-of-the-test" });
  const model = await createModelResolver(environment)(row.model);
  const allowed = name === "xai" ? { allowed_domains: ["example.org"] } : {};
  const asked = request([user("Find")], row.asks ? { serverTools: [{ type: "web_search", ...allowed }] } : {});
  const { response, deltas } = await generate(model, asked, streaming);
  const message = JSON.parse(JSON.stringify(response.message)) as Message;
  // A provider streams its sources before or after its text.
  const bySource = (part: { readonly type: string }) => (part.type === "source" ? 1 : 0);
  expect([...message.parts].sort((a, b) => bySource(a) - bySource(b))).toMatchObject(row.parts);
  expect(deltas).toBe(streaming ? "Moths." : "");
  expect(response.usage).toMatchObject({ inputTokens: 100, outputTokens: 20, ...(row.usd ? { usd: row.usd } : {}) });
  await generate(model, { ...asked, messages: [...asked.messages, message, user("Go on")] }, streaming);
  const [first, second] = server.requests.map(({ body }) => body);
  expect(first).toMatchObject(row.sent);
  expect(second).toMatchObject(row.back);
});

test("a provider whose models take no tools refuses them before anything is sent", async () => {
  await using server = await startServer((response) => sendJson(response, {}));
  const environment = testEnvironment({ PERPLEXITY_BASE_URL: server.url, PERPLEXITY_BASE_URL_KEY: "key-of-the-test" });
  const model = await createModelResolver(environment)("perplexity:sonar");
  const asked = generate(model, request([user("Read")], { tools: [readFile] }), false);
  await expect(asked).rejects.toMatchObject({ code: "bad_request", retryable: false });
  await expect(asked).rejects.toThrow("perplexity:sonar takes no tools, and the worker has `read_file`");
  expect(server.requests).toEqual([]);
});
