import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import { type Model, ModelError, type ModelResponse } from "../../src/models/model.ts";
import { retryDelay } from "../../src/models/retry.ts";
import { type Canned, type Dialect, dialects } from "./dialects.ts";
import { generate, options, readFile, request, user } from "./fixtures.ts";
import { type Answer, sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";

const canned: Canned = {
  text: "Let me look.",
  calls: [{ id: "call_1", tool: "read_file", args: '{"path":"a.txt"}' }],
};
const asked = request([user("Look")], { tools: [readFile] });

async function serve(dialect: Dialect, answer: Answer) {
  const server = await startServer(answer);
  const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
  return { server, model, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function failureOf(model: Model, streaming: boolean): Promise<ModelError> {
  const outcome = await generate(model, asked, streaming).catch((thrown: unknown) => thrown);
  expect(outcome).toBeInstanceOf(ModelError);
  return outcome as ModelError;
}

const statuses: readonly (readonly [number, string, boolean])[] = [
  [400, "bad_request", false],
  [401, "auth", false],
  [403, "auth", false],
  [404, "not_found", false],
  [408, "timeout", true],
  [409, "rate_limit", true],
  [413, "bad_request", false],
  [429, "rate_limit", true],
  [500, "overloaded", true],
  [503, "overloaded", true],
  [529, "overloaded", true],
];

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))("%s", (_name, dialect) => {
  const key = Object.values(dialect.variables("http://x"))[1] as string;

  test.each(statuses)("HTTP %i is %s", async (status, code, retryable) => {
    const said = `No: you sent ${key} and Bearer abcdefghijk`;
    await using served = await serve(dialect, (response) => sendJson(response, dialect.error(said), status));
    for (const streaming of [false, true]) {
      const error = await failureOf(served.model, streaming);
      expect(error).toMatchObject({ code, status, retryable, model: dialect.model });
      expect(error.message).toContain("No: you sent");
      expect(error.message).not.toContain(key);
      expect(error.message).not.toContain("abcdefghijk");
      expect(JSON.stringify(error.cause) ?? "").not.toContain(key);
    }
    expect(served.server.requests).toHaveLength(2);
  });

  test("an error page in place of an answer", async () => {
    await using served = await serve(dialect, (response) => {
      response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
    });
    expect(await failureOf(served.model, false)).toMatchObject({ code: "overloaded", status: 502, retryable: true });
  });

  test("a page that is no answer, with a good status", async () => {
    await using served = await serve(dialect, (response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>Please log in</html>");
    });
    for (const streaming of [false, true]) {
      const error = await failureOf(served.model, streaming);
      expect(error).toMatchObject({ code: "bad_response", retryable: false });
      expect(error.message).toContain("Please log in");
    }
  });

  test("retries as the provider asks, then goes on", async () => {
    await using served = await serve(dialect, (response, _request, index) => {
      if (index === 0) return sendJson(response, dialect.error("Slow down"), 429, { "retry-after-ms": "30" });
      if (index === 1) return sendJson(response, dialect.error("Overloaded"), 529);
      return sendJson(response, dialect.body(canned));
    });
    const delays: number[] = [];
    const response = await withRetries(served.model, delays);
    expect(response.message.parts).toHaveLength(2);
    expect(delays).toEqual([30, 500]);
  });

  test("a stream that ends too early is never an answer", async () => {
    const events = dialect.events(canned);
    for (const keep of incomplete(dialect, events)) {
      await using served = await serve(dialect, (response) => sendEvents(response, events.slice(0, keep)));
      const error = await failureOf(served.model, true);
      expect([keep, error.code, error.retryable]).toEqual([keep, "broken_stream", true]);
    }
  });

  test("a stream that ends inside an event is never an answer", async () => {
    const events = dialect.events(canned);
    for (const keep of incomplete(dialect, events)) {
      const half = (events[keep] ?? "").slice(0, 40);
      await using served = await serve(dialect, (response) => sendEvents(response, [...events.slice(0, keep), half]));
      expect([keep, (await failureOf(served.model, true)).code]).toEqual([keep, "broken_stream"]);
    }
  });

  test("a connection that breaks inside a stream is never an answer", async () => {
    const events = dialect.events(canned);
    for (const keep of incomplete(dialect, events)) {
      await using served = await serve(dialect, (response) => {
        sendEvents(response, events.slice(0, keep), false);
        response.socket?.destroySoon();
      });
      const error = await failureOf(served.model, true);
      expect([keep, error.code === "network" ? "broken_stream" : error.code, error.retryable]).toEqual([
        keep,
        "broken_stream",
        true,
      ]);
    }
  });

  test("a body that is cut off is never an answer", async () => {
    const body = JSON.stringify(dialect.body(canned));
    for (const keep of [0, 1, 40, Math.floor(body.length / 2), body.length - 1]) {
      await using served = await serve(dialect, (response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(body.slice(0, keep));
      });
      expect([keep, await failureOf(served.model, false)]).toMatchObject([keep, { code: "broken_stream", retryable: true }]);
    }
  });

  test("a connection that breaks inside a body is never an answer", async () => {
    const body = JSON.stringify(dialect.body(canned));
    await using served = await serve(dialect, (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
      response.write(body.slice(0, 60));
      response.socket?.destroySoon();
    });
    expect(await failureOf(served.model, false)).toMatchObject({ code: "broken_stream", retryable: true });
  });

  test("a refused connection", async () => {
    const server = await startServer(() => undefined);
    await server[Symbol.asyncDispose]();
    const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
    const error = await failureOf(model, false);
    expect(error).toMatchObject({ code: "network", retryable: true });
    expect(error.message).toContain("ECONNREFUSED");
  });

  test("an abort closes the connection", async () => {
    await using served = await serve(dialect, (response) => sendEvents(response, dialect.events(canned).slice(0, -2), false));
    const controller = new AbortController();
    const started = Promise.withResolvers<void>();
    const onDelta = () => started.resolve();
    const pending = served.model.generate(asked, options({ signal: controller.signal, onDelta }));
    await started.promise;
    controller.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
    await served.server.dropped;
  });

  test("follows no redirect, which would carry the key to another address", async () => {
    await using elsewhere = await startServer((response) => sendJson(response, dialect.body(canned)));
    await using served = await serve(dialect, (response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/elsewhere` }).end();
    });
    expect(await failureOf(served.model, false)).toMatchObject({ code: "bad_request", status: 307, retryable: false });
    expect(elsewhere.requests).toHaveLength(0);
  });
});

/** How many events of a stream can be kept without its answer being complete. */
function incomplete(dialect: Dialect, events: readonly string[]): number[] {
  // In chat completions the finish reason completes an answer; usage and [DONE] come after it.
  const complete = dialect.name === "openai-compatible" ? events.length - 2 : events.length;
  return Array.from({ length: complete }, (_, index) => index);
}

async function withRetries(model: Model, delays: number[]): Promise<ModelResponse> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await model.generate(asked, options());
    } catch (error) {
      const delay = error instanceof ModelError ? retryDelay(error, { attempt, random: 0 }) : undefined;
      if (delay === undefined) throw error;
      delays.push(delay);
      await sleep(Math.min(delay, 50));
    }
  }
}
