import { describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import { ModelError } from "../../src/models/model.ts";
import { type Dialect, dialects } from "./dialects.ts";
import { generate, request, user } from "./fixtures.ts";
import { sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";

/** How each provider tells of a failure after it has begun to answer. */
const overloaded: Record<string, string> = {
  anthropic: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded now"}}\n\n',
  openai: 'data: {"type":"error","sequence_number":9,"code":"server_error","message":"Overloaded now","param":null}\n\n',
  "openai-compatible": 'data: {"error":{"message":"Overloaded now","type":"server_error","code":503}}\n\n',
};

async function failure(dialect: Dialect, events: readonly string[]) {
  await using server = await startServer((response) => sendEvents(response, events));
  const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
  const error = await generate(model, request([user("Hi")]), true).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModelError);
  return error;
}

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))("%s", (name, dialect) => {
  const events = dialect.events({ text: "Hello" });
  const error = overloaded[name] ?? "";

  test("an error in the stream, early and late", async () => {
    for (const keep of [0, 1, 4]) {
      const told = await failure(dialect, [...events.slice(0, keep), error]);
      expect([keep, told]).toMatchObject([keep, { code: "overloaded", retryable: true }]);
      expect(String(told)).toContain("Overloaded now");
    }
  });

  test("an error after which the stream goes on", async () => {
    expect(await failure(dialect, [...events.slice(0, 4), error, ...events.slice(4)])).toMatchObject({ code: "overloaded" });
  });

  test("an event that is no JSON", async () => {
    const broken = await failure(dialect, [...events.slice(0, 4), 'data: {"oops\n\n', ...events.slice(4)]);
    expect(broken).toMatchObject({ code: "broken_stream", retryable: true });
  });

  test("an error in a body with a good status", async () => {
    await using server = await startServer((response) =>
      sendJson(response, { error: { message: "Upstream failed", code: 502 } }),
    );
    const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
    const told = generate(model, request([user("Hi")]), false);
    await expect(told).rejects.toMatchObject({ code: "overloaded", retryable: true });
    await expect(told).rejects.toThrow("Upstream failed");
  });
});
