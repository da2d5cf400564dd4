import { describe, expect, test } from "vitest";
import { type RunError, run, type ToolError, tool } from "../../src/index.ts";
import type { ScriptedReply } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { chat } from "../models/dialects.ts";
import { sendJson, startServer } from "../models/local-server.ts";
import { play, worker } from "./harness.ts";

const files = {
  "main.worker": worker("toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }", "You are main."),
  "child.worker": worker("description: c", "You are the child."),
};

/** Calls that many children at once, at a server that answers the request of one with this status. */
async function fanOut(children: number, status: number) {
  await using server = await startServer((response, request) => {
    const text = JSON.stringify(request.body);
    if (text.includes("You are the child.")) {
      return text.includes("number 7 of")
        ? sendJson(response, chat.error("no"), status)
        : sendJson(response, chat.body({ text: "read" }));
    }
    const calls = Array.from({ length: children }, (_, n) => n).map((n) => {
      return { id: `c${n}`, tool: "child", args: JSON.stringify({ input: `number ${n} of all` }) };
    });
    sendJson(response, chat.body(chat.results(request).length > 0 ? { text: "end" } : { calls }));
  });
  const host = memoryHost({
    environment: chat.variables(server.url),
    fetch: globalThis.fetch,
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [`/program/${name}`, text])),
  });
  const waits: number[] = [];
  const sleep: typeof host.clock.sleep = (milliseconds, signal) => {
    waits.push(milliseconds);
    return host.clock.sleep(milliseconds, signal);
  };
  const base = {
    ...{ target: "/program", input: "Begin.", model: chat.model, approval: { mode: "reject_all" as const } },
    host: { ...host, clock: { ...host.clock, sleep } },
  };
  const outcome = await run(base).then(
    (result) => ({ result, error: undefined }),
    (error: RunError) => ({ result: undefined, error }),
  );
  const last = server.requests.at(-1);
  return { ...outcome, waits, requests: server.requests.length, results: last ? chat.results(last) : [] };
}

test("the end of a call that has nothing to close waits for nothing", async () => {
  const { result, waits } = await fanOut(3, 400);
  expect(result?.output).toBe("end");
  expect(waits).toEqual([]);
});

describe("a provider's failure of one child", () => {
  test("is its caller's result, and the others go on", async () => {
    const { result, requests, results } = await fanOut(20, 400);
    expect(result?.output).toBe("end");
    expect(requests).toBe(22);
    expect(results.filter(({ content }) => content === "read")).toHaveLength(19);
    expect(String(results[7]?.content)).toMatch(/`child` failed: openai-compatible:local-model does not take.*"type":"provider"/);
  });

  test("ends the run where it is the key that is refused", async () => {
    const { error } = await fanOut(20, 401);
    expect(error).toMatchObject({ code: "authentication" });
  });

  test("reaches code as a failure that it can catch, or ends it with the provider's error", async () => {
    const types: string[] = [];
    const main = tool({
      description: "m",
      input: { type: "object" },
      approval: "pre-approved",
      calls: ["child"],
      run: async (_, runtime) => {
        await runtime
          .call("child", { input: "x" })
          .catch(({ toolError }: { toolError: ToolError }) => types.push(toolError.type));
        return runtime.call("child", { input: "x" });
      },
    });
    const { error, model } = await play({
      files: { "child.worker": files["child.worker"] },
      tools: { main },
      model: () => ({ error: { code: "bad_request" } }),
      approval: { mode: "approve_all" },
      request: { entry: "tools.ts:main", input: {} },
      replays: false,
    });
    expect(types).toEqual(["provider"]);
    expect(error).toMatchObject({ code: "provider" });
    expect(model.requests).toHaveLength(2);
  });
});

describe("requests in a row", () => {
  /** Calls children one after another, which answer so, and then says what became of them. */
  async function inRow(replies: readonly ScriptedReply[]) {
    const calls = replies.map((_, n) => ({ tool: "child", args: { input: String(n) } }));
    let child = 0;
    const { result, error, model } = await play({
      files,
      model: ({ worker: name, toolResults }) => {
        if (name === "child") return replies[child++];
        const results = toolResults().map(({ result: told }) => (told.ok ? "ok" : told.error.type));
        return results.length > 0 ? { text: results.join() } : { calls };
      },
      request: { input: "x", limits: { parallel: 1 } },
    });
    return { output: result?.output, error, requests: model.requests.length };
  }
  const failure = (code: "bad_request" | "not_found" | "bad_response"): ScriptedReply => ({ error: { code } });

  test("that fail alike end the run at the third", async () => {
    const { error, requests } = await inRow(Array.from({ length: 8 }, () => failure("bad_request")));
    expect(error).toMatchObject({ code: "provider", message: expect.stringContaining("(3 requests in a row failed so)") });
    // Some of the requests that were about to go out have gone.
    expect(requests).toBeLessThan(9);
  });

  test("that fail in other ways, or with an answer between them, do not", async () => {
    const others = [failure("bad_request"), failure("bad_request"), failure("not_found"), failure("bad_request")];
    expect((await inRow(others)).output).toBe("provider,provider,provider,provider");
    const between = [
      failure("bad_request"),
      failure("bad_request"),
      { text: "x" },
      failure("bad_request"),
      failure("bad_request"),
    ];
    expect((await inRow(between)).output).toBe("provider,provider,ok,provider,provider");
  });

  test.each<[string, ScriptedReply]>([
    ["refused", { text: "no", finish: "content-filter" }],
    ["cut", { text: "ha", finish: "length" }],
  ])("that are %s never count", async (type, reply) => {
    const { output } = await inRow(Array.from({ length: 5 }, () => reply));
    expect(output).toBe(Array.from({ length: 5 }, () => type).join());
  });

  test("count after their retries alone", async () => {
    const attempts = new Map<string, number>();
    const { result } = await play({
      files,
      model: ({ worker: name, callPath, toolResults }) => {
        if (name === "main" && toolResults().length > 0)
          return toolResults()
            .map(({ result: told }) => String(told.ok))
            .join();
        if (name === "main") return { calls: ["a", "b", "c"].map((input) => ({ tool: "child", args: { input } })) };
        const attempt = (attempts.get(callPath) ?? 0) + 1;
        attempts.set(callPath, attempt);
        return attempt < 5 ? { error: { code: "overloaded" } } : "x";
      },
      request: { input: "x" },
    });
    expect(result?.output).toBe("true,true,true");
    expect([...attempts.values()]).toEqual([5, 5, 5]);
  });
});

test("a script that does not expect a request of a child ends the run", async () => {
  const { error } = await play({
    files,
    model: ({ worker: name }) => (name === "child" ? undefined : { calls: [{ tool: "child", args: { input: "x" } }] }),
    request: { input: "x" },
  });
  expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("the script gave no reply") });
});
