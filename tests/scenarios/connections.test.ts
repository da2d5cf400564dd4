import { expect, test } from "vitest";
import { z } from "zod";
import { type ConnectAccess, type Connection, type RunEvent, type Tool, tool, toolset } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

/** A server with notes: counts how often it is connected and closed, and what is asked of it. */
function createServer() {
  const server = { connected: 0, closed: 0, asked: [] as string[] };
  const search = (name = "search"): Tool =>
    tool({
      name,
      description: "Search the notes.",
      input: z.object({ text: z.string() }),
      approval: "pre-approved",
      sideEffect: false,
      run: ({ text }) => {
        server.asked.push(text);
        return `found ${text}`;
      },
    });
  const connect = async (): Promise<Connection> => {
    server.connected++;
    return { tools: [search()], close: async () => void server.closed++ };
  };
  return { ...server, server, search, connect };
}

const allowing = { mode: "approve_all" } as const;

function warnings(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
}

test("a connection is made before the first request of its worker, recorded, and closed at the end of the call", async () => {
  const { server, connect } = createServer();
  const { result, model, journal } = await play({
    files: { "main.worker": worker("toolsets: { notes: {} }") },
    tools: { notes: toolset({ name: "notes", connect }) },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "search", args: { text: "a" } }] } : "done"),
    approval: { mode: "prompt" },
    request: { input: "go" },
  });
  expect(result?.output).toBe("done");
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["search"]);
  expect(server).toEqual({ connected: 1, closed: 1, asked: ["a"] });
  const [record] = journal.filter((entry) => entry.type === "result" && entry.kind === "connect");
  expect(record).toMatchObject({
    callPath: "main",
    key: "connect notes",
    outcome: {
      value: {
        tools: [{ name: "search", description: "Search the notes.", sideEffect: false, approval: "pre-approved" }],
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    },
  });
});

const parallel = {
  files: {
    "main.worker": worker("toolsets: { child: {} }"),
    "child.worker": worker("description: Looks.\ntoolsets: { notes: {} }"),
  },
  model: ({ worker: name, turn }: { worker: string; turn: number }) => {
    if (name === "main")
      return turn === 1
        ? {
            calls: [
              { tool: "child", args: { input: "one" } },
              { tool: "child", args: { input: "two" } },
            ],
          }
        : "done";
    return turn === 1 ? { calls: [{ tool: "search", args: { text: "x" } }] } : "looked";
  },
  approval: allowing,
  request: { input: "go" },
};

test("parallel calls share a connection of the run, which is closed at its end", async () => {
  const { server, connect } = createServer();
  const { result, journal } = await play({
    ...parallel,
    tools: { notes: toolset({ name: "notes", lifetime: "run", connect }) },
    onPlayed: () => expect(server).toEqual({ connected: 1, closed: 1, asked: ["x", "x"] }),
  });
  expect(result?.output).toBe("done");
  const connections = journal.filter((entry) => entry.type === "result" && entry.kind === "connect");
  expect(connections).toEqual([
    expect.objectContaining({ callPath: "main", key: expect.stringMatching(/^connect notes [0-9a-f]{16}$/) }),
  ]);
});

test("a connection of a call is made for each call", async () => {
  const { server, connect } = createServer();
  const { journal } = await play({
    ...parallel,
    tools: { notes: toolset({ name: "notes", lifetime: "call", connect }) },
    onPlayed: () => expect(server).toEqual({ connected: 2, closed: 2, asked: ["x", "x"] }),
  });
  const connections = journal.flatMap((entry) => (entry.type === "result" && entry.kind === "connect" ? [entry.callPath] : []));
  expect(connections.sort()).toEqual(["main/0.child", "main/1.child"]);
});

test("another configuration of a toolset has a connection of its own", async () => {
  const configs: unknown[] = [];
  const { connect } = createServer();
  const { result } = await play({
    files: {
      "main.worker": worker("toolsets: { child: {}, notes: { language: en } }"),
      "child.worker": worker("description: Looks.\ntoolsets: { notes: { language: de } }"),
    },
    tools: {
      notes: toolset({
        name: "notes",
        config: z.object({ language: z.string() }),
        lifetime: "run",
        connect: (config) => {
          configs.push(config);
          return connect();
        },
      }),
    },
    model: ({ worker: name, turn }) =>
      name === "main" && turn === 1 ? { calls: [{ tool: "child", args: { input: "go" } }] } : "done",
    approval: allowing,
    request: { input: "go" },
    onPlayed: () => expect(configs).toEqual([{ language: "en" }, { language: "de" }]),
  });
  expect(result?.output).toBe("done");
});

test("the tools of a connection pass the gate: verdicts, `_approval_config` and `_prefix` hold for them", async () => {
  const asked: string[] = [];
  const change = (name: string) => tool({ name, input: z.object({}), run: () => name });
  const { events } = await play({
    files: {
      "main.worker": worker(
        "toolsets: { notes: { _prefix: my, _approval_config: { add: { pre_approved: true }, wipe: { pre_approved: true } } } }",
      ),
    },
    tools: {
      notes: toolset({ name: "notes", connect: async () => ({ tools: ["add", "drop"].map(change) }) }),
    },
    model: ({ turn }) => (turn === 1 ? { calls: ["my_add", "my_drop"].map((name) => ({ tool: name, args: {} })) } : "done"),
    approval: {
      mode: "prompt",
      approver: async (request) => {
        asked.push(request.tool);
        return { type: "deny" };
      },
      rules: [{ effect: "allow", rule: "my_serach" }],
    },
    request: { input: "go" },
  });
  expect(asked).toEqual(["my_drop"]);
  expect(warnings(events)).toEqual([
    "`_approval_config` of `main`: `notes` (notes) has no tool `wipe`",
    "the rule `my_serach` matches no tool, so it does nothing",
  ]);
});

test("deferred tools are searched for and loaded by calls of the conversation, so a replay has the same", async () => {
  const tools = ["createIssue", "close_issue", "list_users"].map((name) =>
    tool({ name, description: "Works on the tracker.", input: z.object({}), approval: "pre-approved", run: () => name }),
  );
  const asks = [
    { tool: "gh_close_issue", args: {}, allowUnknownTool: true },
    { tool: "search_tools", args: { query: "close an issue" } },
    { tool: "gh_close_issue", args: {} },
    { tool: "search_tools", args: { query: "weather" } },
  ];
  const { result, model, events } = await play({
    files: { "main.worker": worker("toolsets: { tracker: { _prefix: gh } }") },
    tools: { tracker: toolset({ name: "tracker", connect: async () => ({ tools, deferred: ["createIssue", "close_issue"] }) }) },
    model: ({ turn }) => {
      const call = asks[turn - 1];
      return call ? { calls: [call] } : "done";
    },
    approval: allowing,
    request: { input: "go" },
  });
  expect(result?.output).toBe("done");
  const results = events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
  expect(results).toMatchObject([
    { ok: false, error: { type: "unknown_tool", error: "`gh_close_issue` is not loaded, so its arguments are not known" } },
    { ok: true, value: { loaded: ["gh_close_issue", "gh_createIssue"] } },
    { ok: true, value: "close_issue" },
    { ok: true, value: { loaded: [], hint: expect.any(String) } },
  ]);
  const offered = model.requests.map((request) => request.tools.map(({ name }) => name));
  expect(offered).toEqual([
    ...Array(2).fill(["gh_list_users", "search_tools"]),
    ...Array(3).fill(["gh_list_users", "search_tools", "gh_close_issue", "gh_createIssue"]),
  ]);
  expect(model.requests[0]?.tools[1]?.description).toContain("gh_createIssue, gh_close_issue.");
});

test.each<[string, () => Promise<unknown>, string, number]>([
  ["rejects", () => Promise.reject(new Error("nobody listens")), "nobody listens", 0],
  ["gives no object", async () => undefined, "a list of `tools`", 0],
  ["gives no tools", async () => ({ tools: "search" }), "a list of `tools`", 1],
  ["gives what is no tool", async () => ({ tools: [{ name: "search" }] }), "not all tools", 1],
  [
    "gives a name that is none",
    async () => ({ tools: [tool({ name: "a b", input: z.object({}), run: () => 1 })] }),
    "no name",
    1,
  ],
  [
    "gives a name twice",
    async () => ({ tools: [1, 2].map((value) => tool({ name: "twin", input: z.object({}), run: () => value })) }),
    "two tools `twin`",
    1,
  ],
  [
    "gives a tool that calls others",
    async () => ({ tools: [tool({ name: "relay", input: z.object({}), calls: ["main"], run: () => 1 })] }),
    "`relay` has `calls`",
    1,
  ],
])("where `connect` %s, the caller of the worker is told and goes on", async (_, connect, why, closings) => {
  const closed: string[] = [];
  const closing = async () => {
    const made = await connect();
    return made && { ...(made as Connection), close: async () => void closed.push("closed") };
  };
  const { result, events } = await play({
    files: {
      "main.worker": worker("toolsets: { child: {} }"),
      "child.worker": worker("description: Looks.\ntoolsets: { notes: {} }"),
    },
    tools: { notes: toolset({ name: "notes", connect: closing as () => Promise<Connection> }) },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "child", args: { input: "go" } }] } : "done without it"),
    approval: allowing,
    request: { input: "go" },
  });
  const [answer] = events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
  expect(answer).toMatchObject({ ok: false, error: { type: "unavailable", error: expect.stringContaining(why) } });
  expect(result?.output).toBe("done without it");
  expect(closed).toHaveLength(closings);
});

test("the run fails where the toolset of its entry cannot be connected", async () => {
  const { error, model } = await play({
    files: { "main.worker": worker("toolsets: { notes: {} }") },
    tools: { notes: toolset({ name: "notes", lifetime: "run", connect: () => Promise.reject(new Error("no such server")) }) },
    model: () => "done",
    approval: allowing,
    request: { input: "go" },
  });
  expect(error).toMatchObject({
    name: "RunError",
    code: "failed",
    message: "the toolset `notes` cannot be connected: no such server",
  });
  expect(model.requests).toEqual([]);
});

test("two toolsets of a worker whose tools have one name fail its call, and both are closed", async () => {
  const first = createServer();
  const second = createServer();
  const { error } = await play({
    files: { "main.worker": worker("toolsets: { notes: {}, books: {} }") },
    tools: {
      notes: toolset({ name: "notes", connect: first.connect }),
      books: toolset({ name: "books", connect: second.connect }),
    },
    model: () => "done",
    approval: allowing,
    request: { input: "go" },
    onPlayed: () => expect([first.server.closed, second.server.closed]).toEqual([1, 1]),
  });
  expect(error).toMatchObject({
    message: expect.stringContaining("has two tools `search`, of the toolsets `notes` and `books`"),
  });
});

test("a connected toolset cannot have `read_result`, which is llm-do's own: no request is made", async () => {
  const { server, search } = createServer();
  const { error, model } = await play({
    files: { "main.worker": worker("toolsets: { notes: {} }") },
    tools: {
      notes: toolset({
        name: "notes",
        connect: async () => ({ tools: [search("read_result")], close: async () => void server.closed++ }),
      }),
    },
    model: () => "done",
    approval: allowing,
    request: { input: "go" },
    onPlayed: () => expect(server.closed).toBe(1),
  });
  expect(error).toMatchObject({
    message: "`main` has two tools `read_result`, of the toolsets `llm-do` and `notes`",
  });
  expect(model.requests).toEqual([]);
});

/** A server that answers when it is told to. */
function createSlowServer() {
  const { server, search } = createServer();
  let answer = (): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const connect = async (_config: unknown, { signal }: ConnectAccess): Promise<Connection> => {
    server.connected++;
    begin();
    await waiting;
    expect(signal.aborted).toBe(true);
    return { tools: [search()], close: async () => void server.closed++ };
  };
  return { server, connect, answer, begun };
}

test.each(["call", "run"] as const)(
  "an abort ends a %s connection that hangs; what connects late is closed",
  async (lifetime) => {
    const { server, connect, answer, begun } = createSlowServer();
    const controller = new AbortController();
    begun.then(() => controller.abort(new Error("enough")));
    const { error, model } = await play({
      files: { "main.worker": worker("toolsets: { notes: {} }") },
      tools: { notes: toolset({ name: "notes", lifetime, connect }) },
      model: () => "done",
      approval: allowing,
      request: { input: "go", signal: controller.signal },
    });
    expect(error).toMatchObject({ name: "RunError", code: "aborted" });
    expect(model.requests).toEqual([]);
    answer();
    await expect.poll(() => server.closed).toBe(1);
  },
);

test.each(["call", "run"] as const)("the seconds of a worker end its wait for a %s connection", async (lifetime) => {
  const { server, connect, answer, begun } = createSlowServer();
  const { result, events } = await play({
    files: {
      "main.worker": worker("toolsets: { child: {} }"),
      "child.worker": worker("description: Looks.\ntoolsets: { notes: {} }\nlimits: { seconds: 1 }"),
    },
    tools: { notes: toolset({ name: "notes", lifetime, connect }) },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "child", args: { input: "go" } }] } : "done without it"),
    approval: (host) => {
      begun.then(() => host.clock.advance(1000));
      return allowing;
    },
    request: { input: "go", limits: { seconds: 60 } },
  });
  const [answered] = events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
  expect(answered).toMatchObject({ ok: false, error: { type: "limit" } });
  expect(result?.output).toBe("done without it");
  answer();
  await expect.poll(() => server.closed).toBe(1);
});

test.each<[string, () => Promise<void>, string[]]>([
  ["rejects", () => Promise.reject(new Error("still busy")), ["the toolset `notes` failed to close: still busy"]],
  ["hangs", () => new Promise(() => undefined), []],
])("a connection whose `close` %s does not change what the run comes to", async (_, close, expected) => {
  // Time stands still where `seconds` are limited, and passes at once elsewhere.
  const request = { input: "go", ...(expected.length > 0 ? { limits: { seconds: 60 } } : {}) };
  const { search } = createServer();
  for (const lifetime of ["call", "run"] as const) {
    const { result, events } = await play({
      files: { "main.worker": worker("toolsets: { notes: {} }") },
      tools: { notes: toolset({ name: "notes", lifetime, connect: async () => ({ tools: [search()], close }) }) },
      model: () => "done",
      approval: allowing,
      request,
    });
    expect(result?.output).toBe("done");
    expect(warnings(events)).toEqual(expected);
  }
});

test("a tool whose server has died is its own failure, and the model goes on", async () => {
  const search = tool({
    name: "search",
    input: z.object({}),
    approval: "pre-approved",
    run: () => Promise.reject(new Error("the connection is closed")),
  });
  const { result, events } = await play({
    files: { "main.worker": worker("toolsets: { notes: {} }") },
    tools: { notes: toolset({ name: "notes", lifetime: "run", session: true, connect: async () => ({ tools: [search] }) }) },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "search", args: {} }] } : "done"),
    approval: { mode: "prompt" },
    request: { input: "go" },
  });
  expect(result?.output).toBe("done");
  const [answer] = events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
  expect(answer).toMatchObject({ ok: false, error: { type: "tool_failed", error: "the connection is closed" } });
});
