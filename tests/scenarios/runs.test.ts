import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type ApprovalRequest, RunError, type RunEvent, run, tool } from "../../src/index.ts";
import type { ToolResultPart } from "../../src/protocol/message.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { createTextPrinter } from "../../src/ui/headless/text-printer.ts";
import { play, transcript, worker } from "./harness.ts";

const writer = worker("toolsets: { filesystem: {} }");

function typeOf({ result }: ToolResultPart): string {
  return result.ok ? "ok" : result.error.type;
}

describe("a run", () => {
  test("gives what the model says, and the conversation", async () => {
    const { result, events } = await play({
      files: { "main.worker": worker("", "Be kind.") },
      model: ({ system, lastUserText }) => `${system[0]} / ${lastUserText()}`,
      request: { input: "hello" },
    });
    expect(result?.output).toBe("Be kind. / hello");
    expect(result?.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(transcript(events)).toEqual(["main run-start", "main call-start", "main call-end done", "main run-end done"]);
  });

  test("without any input sends a placeholder, because providers refuse an empty message", async () => {
    const { result } = await play({
      files: { "main.worker": worker("input: { input?: string }") },
      model: ({ lastUserText }) => lastUserText(),
    });
    expect(result?.output).toBe("(no input)");
  });

  test("goes on while there are tool calls, whatever the finish reason says", async () => {
    const { result } = await play({
      files: { "main.worker": writer, "a.txt": "abc" },
      model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "read_file", args: { path: "a.txt" } }], finish: "stop" } : "done"),
      request: { input: "x" },
    });
    expect(result?.output).toBe("done");
  });

  test("answers calls that run in parallel in the order in which they were asked for", async () => {
    const wait = tool({
      input: z.object({ ms: z.number() }),
      approval: "pre-approved",
      run: ({ ms }) => new Promise((resolve) => setTimeout(() => resolve(ms), ms)),
    });
    const { result } = await play({
      files: { "main.worker": worker("toolsets: { wait: {} }") },
      tools: { wait },
      model: ({ turn, toolResults }) =>
        turn === 1
          ? { calls: [30, 1, 10].map((ms) => ({ tool: "wait", args: { ms } })) }
          : JSON.stringify(toolResults().map(({ result: one }) => one.ok && one.value)),
      request: { input: "x" },
    });
    expect(result?.output).toBe("[30,1,10]");
  });
});

describe("what goes wrong in a call is told to the model", () => {
  const cases: Record<string, { readonly calls: Parameters<typeof callOnce>[0]; readonly type: string }> = {
    "an unknown tool": { calls: { tool: "raed_file", args: {}, allowUnknownTool: true }, type: "unknown_tool" },
    "arguments that do not fit": { calls: { tool: "read_file", args: { pth: "a" } }, type: "invalid_arguments" },
    "arguments that are not JSON": { calls: { tool: "read_file", invalidArgs: "{" }, type: "invalid_arguments" },
    "arguments that are no object": { calls: { tool: "read_file", args: [1] }, type: "invalid_arguments" },
    "a file that is not there": { calls: { tool: "read_file", args: { path: "nothing.txt" } }, type: "not_found" },
    "a path out of the scope": { calls: { tool: "read_file", args: { path: "../secret" } }, type: "path_outside_scope" },
    "a write that nobody can approve": { calls: { tool: "write_file", args: { path: "b.txt", content: "x" } }, type: "denied" },
    "a write to the program itself": {
      calls: { tool: "write_file", args: { path: "main.worker", content: "x" } },
      type: "blocked",
    },
  };
  for (const [name, { calls, type }] of Object.entries(cases)) {
    test(name, async () => {
      const { result, events } = await callOnce(calls);
      expect(result?.output).toBe("went on");
      expect(events.find((event) => event.type === "tool-result")).toMatchObject({ result: { ok: false, error: { type } } });
    });
  }

  function callOnce(call: { tool: string; args?: never | object; invalidArgs?: string; allowUnknownTool?: boolean }) {
    return play({
      files: { "main.worker": writer, "a.txt": "abc" },
      model: ({ turn }) => (turn === 1 ? { calls: [call as never] } : "went on"),
      request: { input: "x" },
    });
  }
});

describe("nested workers", () => {
  const parent = worker("toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }");
  const child = worker("description: a child\ntoolsets: { filesystem: {} }");
  const callChild = { calls: [{ tool: "child", args: { input: "write" } }] };

  test("have messages of their own, which the parent never sees", async () => {
    const { result, model } = await play({
      files: { "main.worker": parent, "child.worker": child },
      model: ({ worker: name, turn }) => (name === "child" ? "the child's answer" : turn === 1 ? callChild : "done"),
      request: { input: "x" },
    });
    expect(result?.output).toBe("done");
    const ofChild = model.requests.find(({ worker: name }) => name === "child");
    expect(ofChild?.messages).toHaveLength(1);
    const last = model.requests.at(-1);
    expect(last?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(last?.toolResults()[0]?.result).toEqual({ ok: true, value: "the child's answer" });
  });

  test("ask the same approver, with the call path of the asking call", async () => {
    const asked: ApprovalRequest[] = [];
    const { files } = await play({
      files: { "main.worker": parent, "child.worker": child },
      model: ({ worker: name, turn }) =>
        name === "main"
          ? turn === 1
            ? callChild
            : "done"
          : turn === 1
            ? { calls: [{ tool: "write_file", args: { path: "out.txt", content: "hi" } }] }
            : "written",
      approval: {
        mode: "prompt",
        approver: async (request) => {
          asked.push(request);
          return { type: "approve" };
        },
      },
      request: { input: "x" },
    });
    expect(asked.map(({ callPath, worker: name, position }) => [callPath, name, position])).toEqual([
      ["main/0.child/0.write_file", "child", { n: 1, m: 1 }],
    ]);
    expect(files["out.txt"]).toBe("hi");
  });

  test("may recurse, to the maximum depth, and the refusal names caller, callee, depth and limit", async () => {
    const { result, model } = await play({
      files: { "main.worker": worker("toolsets: { main: { _approval_config: { main: { pre_approved: true } } } }") },
      model: ({ turn, toolResults }) => {
        if (turn === 1) return { calls: [{ tool: "main", args: { input: "deeper" } }] };
        const result = toolResults()[0]?.result;
        return result?.ok === false ? result.error.error : String(result?.value);
      },
      request: { input: "x" },
    });
    expect(result?.output).toMatch(/`main` \(depth 5\) cannot call `main`.*depth 6.*limit is 5/);
    expect(new Set(model.requests.map(({ callPath }) => callPath)).size).toBe(6);
  });

  test("check the sizes of the entry's attachments before they are read", async () => {
    const host = memoryHost({
      files: {
        "/p/main.worker": worker(
          "input: { deck: attachment }\nattachment_policy: { max_total_bytes: 9, allowed_suffixes: [.txt] }",
        ),
        "/p/s.yaml": "- reply: read\n",
        "/a.txt": "ten bytes.",
        "/b.md": "b",
      },
    });
    const readBytes = () => Promise.reject(new Error("it is read"));
    const request = { target: "/p", model: "scripted:/p/s.yaml", host: { ...host, files: { ...host.files, readBytes } } };
    const refusal = (path: string) => run({ ...request, approval: { mode: "prompt" }, attachments: [{ path }] });
    const tooLarge = "the attachments have 10 bytes; at most 9 bytes are taken; send smaller or fewer files in one call";
    await expect(refusal("/a.txt")).rejects.toMatchObject({ code: "input_invalid", message: tooLarge });
    const suffix = "attachments with the suffix `.md` are not taken (`b.md`); allowed: .txt";
    await expect(refusal("/b.md")).rejects.toMatchObject({ code: "input_invalid", message: suffix });
  });

  test("get attachments through the caller's scopes, and only what the policy of the callee takes", async () => {
    const reader = worker(
      "description: reads\ninput: { attachments(array): attachment }\nattachment_policy: { max_attachments: 1, allowed_suffixes: [.txt] }",
    );
    const { result } = await play({
      files: {
        "main.worker": worker("toolsets: { reader: { _approval_config: { reader: { pre_approved: true } } } }"),
        "reader.worker": reader,
        "a.txt": "the text of a",
        "b.md": "b",
      },
      model: ({ worker: name, turn, files, toolResults }) => {
        if (name === "reader") return new TextDecoder().decode(files()[0]?.bytes);
        if (turn === 1)
          return {
            calls: [["a.txt"], ["b.md"], ["a.txt", "a.txt"], ["../x.txt"]].map((attachments) => ({
              tool: "reader",
              args: { attachments },
            })),
          };
        return JSON.stringify(toolResults().map(({ result: one }) => (one.ok ? one.value : one.error.type)));
      },
      request: { input: "x" },
    });
    expect(JSON.parse(String(result?.output))).toEqual([
      "the text of a",
      "suffix_not_allowed",
      "too_many_attachments",
      "path_outside_scope",
    ]);
  });
});

describe("approvals", () => {
  const writes = (paths: readonly string[]) => ({
    calls: paths.map((path) => ({ tool: "write_file", args: { path, content: path } })),
  });

  test("a denial comes back to the model with its note, and the run goes on", async () => {
    const { result, files } = await play({
      files: { "main.worker": writer },
      model: ({ turn, toolResults }) =>
        turn === 1
          ? writes(["a.txt", "b.txt"])
          : JSON.stringify(toolResults().map(({ result: one }) => (one.ok ? "ok" : one.error.error))),
      approval: {
        mode: "prompt",
        approver: async ({ args }) => (args["path"] === "a.txt" ? { type: "deny", note: "not there" } : { type: "approve" }),
      },
      request: { input: "x" },
    });
    expect(JSON.parse(String(result?.output))).toEqual(["`write_file` was denied: not there", "ok"]);
    expect(Object.keys(files)).toEqual(["b.txt", "main.worker"]);
    expect(result?.denied).toMatchObject([{ tool: "write_file", source: "person" }]);
  });

  test("with nobody to ask, everything that asks is denied at once, and listed with the line that would allow it", async () => {
    const { result } = await play({
      files: { "main.worker": writer },
      model: ({ turn }) => (turn === 1 ? writes(["a.txt"]) : "done"),
      request: { input: "x" },
    });
    expect(result?.denied).toMatchObject([
      {
        source: "nobody",
        callPath: "main/0.write_file",
        allow: "toolsets: { filesystem: { _approval_config: { write_file: { pre_approved: true } } } }",
      },
    ]);
  });

  test("no line is suggested that would not allow it: where an author wrote that it asks, or code calls", async () => {
    const scoped = (rest: string) =>
      worker(`sandbox: { paths: { out: { root: ., mode: rw${rest} } } }\ntoolsets: { filesystem: {} }`);
    const model = ({ turn }: { turn: number }) => (turn === 1 ? writes(["out/a.txt"]) : "done");
    const denied = async (main: string) =>
      (await play({ files: { "main.worker": main }, model, request: { input: "x" } })).result?.denied[0];
    expect((await denied(scoped("")))?.allow).toBeDefined();
    expect((await denied(scoped(", write_approval: true")))?.allow).toBeUndefined();
    const { result } = await play({
      files: { "child.worker": worker("description: c") },
      tools: {
        main: async (_: unknown, runtime: { call: (name: string, input: object) => Promise<unknown> }) =>
          runtime.call("child", { input: "x" }).catch(() => "refused"),
      },
      model: () => "never",
      request: { entry: "tools.ts:main", input: "y" },
    });
    expect(result).toMatchObject({ output: "refused", denied: [{ source: "nobody", worker: "main" }] });
    expect(result?.denied[0]?.allow).toBeUndefined();
  });

  test("stop ends the run, and is told like any other decision", async () => {
    const { error, files, events, journal } = await play({
      files: { "main.worker": writer },
      model: () => writes(["a.txt", "b.txt"]),
      approval: { mode: "prompt", approver: async () => ({ type: "stop", note: "enough" }) },
      request: { input: "x" },
    });
    expect(error).toBeInstanceOf(RunError);
    const denied = [{ callPath: "main/0.write_file", source: "person", note: "enough" }];
    expect(error).toMatchObject({ code: "denied", run: { denied } });
    expect(Object.keys(files)).toEqual(["main.worker"]);
    const told = { decision: { type: "stop", note: "enough" }, source: "person" };
    expect(events.filter(({ type }) => type === "approval-decision")).toMatchObject([told]);
    expect(journal.filter(({ type }) => type === "decision")).toMatchObject([told]);
  });

  test("an approval for the run is not asked for again, for exactly this call of this worker", async () => {
    let asked = 0;
    await play({
      files: { "main.worker": writer },
      model: ({ turn }) => (turn <= 3 ? writes([turn === 3 ? "b.txt" : "a.txt"]) : "done"),
      approval: {
        mode: "prompt",
        approver: async () => {
          asked++;
          return { type: "approve", remember: "run" };
        },
      },
      request: { input: "x" },
    });
    expect(asked).toBe(2);
  });

  test("anything but a decision denies: a boolean, nothing, an exception", async () => {
    for (const answer of [
      async () => true,
      async () => undefined,
      async () => ({ type: "approved" }),
      async () => Promise.reject(new Error("broken")),
    ]) {
      const { result, files } = await play({
        files: { "main.worker": writer },
        model: ({ turn }) => (turn === 1 ? writes(["a.txt"]) : "done"),
        approval: { mode: "prompt", approver: answer as never },
        request: { input: "x" },
      });
      expect(result?.denied).toMatchObject([{ source: "error" }]);
      expect(Object.keys(files)).toEqual(["main.worker"]);
    }
  });

  test("a third try of a call that was denied twice is denied without a question", async () => {
    let asked = 0;
    const { result } = await play({
      files: { "main.worker": writer },
      model: ({ turn }) => (turn <= 4 ? writes(["a.txt"]) : "done"),
      approval: {
        mode: "prompt",
        approver: async () => {
          asked++;
          return { type: "deny" };
        },
      },
      request: { input: "x" },
    });
    expect(asked).toBe(2);
    expect(result?.denied.map(({ source }) => source)).toEqual(["person", "person", "repeated", "repeated"]);
  });

  test("edited arguments are judged anew and shown again before they run", async () => {
    const asked: unknown[] = [];
    const { files } = await play({
      files: { "main.worker": writer },
      model: ({ turn }) => (turn === 1 ? writes(["a.txt"]) : "done"),
      approval: {
        mode: "prompt",
        approver: async ({ args }) => {
          asked.push(args["path"]);
          return asked.length === 1 ? { type: "approve", args: { ...args, path: "c.txt" } } : { type: "approve" };
        },
      },
      request: { input: "x" },
    });
    expect(asked).toEqual(["a.txt", "c.txt"]);
    expect(Object.keys(files)).toEqual(["c.txt", "main.worker"]);
  });

  test("a file that changes between the question and the write is not overwritten, and the model is told", async () => {
    const { result, files } = await play({
      files: { "main.worker": writer, "a.txt": "old" },
      model: ({ turn, toolResults }) => (turn === 1 ? writes(["a.txt"]) : JSON.stringify(toolResults().map(typeOf))),
      approval: (host) => ({
        mode: "prompt",
        approver: async () => {
          host.put("/program/a.txt", "somebody else's");
          return { type: "approve" };
        },
      }),
      request: { input: "x" },
    });
    expect(result?.output).toBe('["changed"]');
    expect(files["a.txt"]).toBe("somebody else's");
  });

  test("two writes to one file in one turn are judged one after the other", async () => {
    const { result, files } = await play({
      files: { "main.worker": writer },
      model: ({ turn, toolResults }) =>
        turn === 1
          ? { calls: ["one", "two"].map((content) => ({ tool: "write_file", args: { path: "a.txt", content } })) }
          : JSON.stringify(toolResults().map(typeOf)),
      approval: { mode: "prompt", approver: async () => ({ type: "approve" }) },
      request: { input: "x" },
    });
    expect(result?.output).toBe('["ok","ok"]');
    expect(files["a.txt"]).toBe("two");
  });

  test("reject_all denies what asks, and only that", async () => {
    const { result } = await play({
      files: { "main.worker": writer, "a.txt": "abc" },
      model: ({ turn }) =>
        turn === 1 ? { calls: [{ tool: "read_file", args: { path: "a.txt" } }, ...writes(["b.txt"]).calls] } : "done",
      approval: { mode: "reject_all" },
      request: { input: "x" },
    });
    expect(result?.denied.map(({ tool: name, source }) => [name, source])).toEqual([["write_file", "reject_all"]]);
  });

  test("a policy is required, and its mode must be one", async () => {
    const { error } = await play({
      files: { "main.worker": writer },
      model: () => "x",
      approval: { mode: "strict" as never },
      request: { input: "x" },
    });
    expect(String(error)).toMatch(/`strict` is now `reject_all`/);
  });
});

describe("outputs", () => {
  const typed = worker("output: { verdict(enum): [go, pass] }");

  test("are validated, and repaired once", async () => {
    const { result } = await play({
      files: { "main.worker": typed },
      model: ({ turn }) => (turn === 1 ? "perhaps" : '```json\n{"verdict":"go"}\n```'),
      request: { input: "x" },
    });
    expect(result?.output).toEqual({ verdict: "go" });
  });

  test("that never fit end the run with a code of their own", async () => {
    const { error } = await play({
      files: { "main.worker": typed },
      model: () => '{"verdict":"maybe"}',
      request: { input: "x" },
    });
    expect(error).toMatchObject({ code: "output_invalid" });
  });
});

describe("limits", () => {
  test("of turns: one last turn to finish with what there is", async () => {
    const { result } = await play({
      files: { "main.worker": worker("limits: { turns: 3 }\ntoolsets: { filesystem: {} }") },
      model: ({ turn, lastUserText }) => (turn < 3 ? { calls: [{ tool: "list_files" }] } : `told: ${lastUserText()}`),
      request: { input: "x" },
    });
    expect(result).toMatchObject({
      stopReason: "limit",
      output: expect.stringMatching(/^told: The limit of 3 turns is reached/),
    });
  });

  test("of a child end the child, and its caller gets what it had", async () => {
    const { result } = await play({
      files: {
        "main.worker": worker("toolsets: { child: { _approval_config: { '*': { pre_approved: true } } } }"),
        "child.worker": worker("description: c\nlimits: { turns: 1 }\ntoolsets: { filesystem: {} }"),
      },
      model: ({ worker: name, turn, toolResults }) => {
        if (name === "child") return { text: "half done", calls: [{ tool: "list_files" }] };
        return turn === 1 ? { calls: [{ tool: "child", args: { input: "x" } }] } : JSON.stringify(toolResults()[0]?.result);
      },
      request: { input: "x" },
    });
    expect(result?.stopReason).toBe("done");
    expect(result?.output).toMatch(/"type":"limit".*|half done/);
    expect(result?.output).toContain("half done");
  });

  test("of tool calls and tokens of the run end it with what there is", async () => {
    for (const limits of [{ tool_calls: 2 }, { tokens: 1000 }]) {
      const { result } = await play({
        files: { "main.worker": writer },
        model: () => ({ text: "so far", calls: [{ tool: "list_files" }], usage: { inputTokens: 300, outputTokens: 100 } }),
        request: { input: "x", limits },
      });
      expect(result).toMatchObject({ stopReason: "limit", output: "so far" });
    }
  });
});

describe("bounds", () => {
  test("of what runs at once hold for leaf tools of the whole tree", async () => {
    for (const [limits, allowed] of [
      ["parallel: 2", 2],
      ["turns: 5", 8],
    ] as const) {
      const busy = { now: 0, most: 0 };
      const wait = tool({
        input: z.object({}),
        approval: "pre-approved",
        run: async () => {
          busy.most = Math.max(busy.most, ++busy.now);
          await new Promise((resolve) => setTimeout(resolve, 5));
          busy.now--;
        },
      });
      const calls = (name: string, count: number) => ({
        calls: Array.from({ length: count }, () => ({ tool: name, args: { input: "x" } })),
      });
      const { result } = await play({
        files: {
          "main.worker": worker(
            `limits: { ${limits} }\ntoolsets: { child: { _approval_config: { child: { pre_approved: true } } } }`,
          ),
          "child.worker": worker("description: c\ntoolsets: { wait: {} }"),
        },
        tools: { wait },
        model: ({ worker: name, turn }) => (turn > 1 ? "done" : name === "main" ? calls("child", 5) : calls("wait", 4)),
        request: { input: "x" },
      });
      expect(result?.output).toBe("done");
      expect(busy.most).toBe(allowed);
    }
  });

  test("of depth: the strictest of the flag, the entry and the worker in between holds", async () => {
    const { model } = await play({
      files: {
        "main.worker": worker("limits: { depth: 2 }\ntoolsets: { main: { _approval_config: { main: { pre_approved: true } } } }"),
      },
      model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "main", args: { input: "deeper" } }] } : "done"),
      request: { input: "x", limits: { depth: 4 } },
    });
    expect(new Set(model.requests.map(({ callPath }) => callPath)).size).toBe(3);
  });

  test("of seconds end a child that takes too long, and not its caller", async () => {
    const { result } = await play({
      files: {
        "main.worker": worker("toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }"),
        "child.worker": worker("description: c\nlimits: { seconds: 1 }"),
      },
      model: async ({ worker: name, turn, toolResults, signal }) => {
        if (name === "child") return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return turn === 1 ? { calls: [{ tool: "child", args: { input: "x" } }] } : JSON.stringify(toolResults().map(typeOf));
      },
      request: { input: "x" },
    });
    expect(result?.output).toBe('["limit"]');
  });
});

describe("code", () => {
  test("calls workers and tools by name, through the gate, and only those that it declares", async () => {
    const review = tool({
      input: z.object({ path: z.string() }),
      calls: ["analyzer"],
      approval: "pre-approved",
      run: async ({ path }, runtime) => runtime.call("analyzer", { input: path }),
    });
    const curious = tool({
      input: z.object({}),
      approval: "pre-approved",
      run: async (_, runtime) => runtime.call("analyzer", { input: "x" }),
    });
    const { result, events } = await play({
      files: { "main.worker": worker("toolsets: { review: {}, curious: {} }"), "analyzer.worker": worker("description: a") },
      tools: { review, curious },
      model: ({ worker: name, turn, toolResults, lastUserText }) => {
        if (name === "analyzer") return `analysed ${lastUserText()}`;
        return turn === 1
          ? { calls: [{ tool: "review", args: { path: "a.txt" } }, { tool: "curious" }] }
          : JSON.stringify(toolResults().map(({ result: one }) => (one.ok ? one.value : one.error.type)));
      },
      approval: { mode: "approve_all" },
      request: { input: "x" },
    });
    expect(result?.output).toBe('["analysed a.txt","unknown_tool"]');
    expect(transcript(events)).toContain("main/0.review/0.analyzer approval-decision approve by approve_all");
  });

  test("can be the entry: it is not asked for, what it calls is", async () => {
    const { result, events } = await play({
      files: { "analyzer.worker": worker("description: a") },
      tools: {
        main: async (input: { input: string }, runtime: { call: (name: string, input: object) => Promise<unknown> }) => ({
          got: await runtime.call("analyzer", { input: input.input }),
        }),
      },
      model: ({ lastUserText }) => `analysed ${lastUserText()}`,
      approval: { mode: "approve_all" },
      request: { entry: "tools.ts:main", input: "y" },
    });
    expect(result?.output).toEqual({ got: "analysed y" });
    expect(transcript(events)).toEqual([
      "main run-start",
      "main call-start",
      "main/0.analyzer tool-call",
      "main/0.analyzer approval-decision approve by approve_all",
      "main/0.analyzer call-start",
      "main/0.analyzer call-end done",
      "main/0.analyzer tool-result ok",
      "main call-end done",
      "main run-end done",
    ]);
  });

  test("that throws is told to the model; that never ends is abandoned on abort", async () => {
    const controller = new AbortController();
    const broken = tool({
      input: z.object({}),
      approval: "pre-approved",
      run: () => {
        throw new Error("no luck");
      },
    });
    const stuck = tool({
      input: z.object({}),
      approval: "pre-approved",
      run: () => new Promise(() => setTimeout(() => controller.abort(new Error("enough")), 5)),
    });
    const { error, events } = await play({
      files: { "main.worker": worker("toolsets: { broken: {}, stuck: {} }") },
      tools: { broken, stuck },
      model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "broken" }] } : { calls: [{ tool: "stuck" }] }),
      request: { input: "x", signal: controller.signal },
    });
    expect(error).toMatchObject({ code: "aborted" });
    expect(events.find(({ type }) => type === "tool-result")).toMatchObject({
      result: { ok: false, error: { type: "tool_failed", error: "no luck" } },
    });
  });
});

/** Returns what a run writes to stderr, at so many `-v`. */
function shownAt(verbosity: number, events: readonly RunEvent[]): string {
  let shown = "";
  const print = createTextPrinter({
    verbosity,
    write: (text) => {
      shown += text;
    },
  });
  for (const event of events) print(event);
  return shown;
}

describe("providers", () => {
  test("that fail for a moment are asked again; an event says so", async () => {
    let attempts = 0;
    const { result, events } = await play({
      files: { "main.worker": worker("") },
      model: () => (attempts++ < 2 ? { error: { code: "rate_limit", retryAfterMilliseconds: 0 } } : "at last"),
      request: { input: "x" },
    });
    expect(result?.output).toBe("at last");
    expect(events.filter(({ type }) => type === "retry")).toHaveLength(2);
    // Short waits are no news.
    expect(shownAt(0, events)).toBe("");
    expect(shownAt(1, events)).toContain("(attempt 3 of 5)");
    expect(result?.usage.requests).toBe(1);
  });

  test("are asked as often as the worker wants, and the error names the attempts", async () => {
    for (const [settings, attempts] of [
      ["", 5],
      ["model_settings: { max_retries: 1 }\n", 2],
      ["model_settings: { max_retries: 0 }\n", 1],
    ] as const) {
      let asked = 0;
      const { error, events } = await play({
        files: { "main.worker": worker(settings) },
        model: () => ({ error: { code: "overloaded", message: `no ${++asked}` } }),
        request: { input: "x" },
      });
      expect(asked).toBe(attempts);
      expect(error).toMatchObject({ code: "provider", message: expect.stringContaining(`; ${attempts} attempt`) });
      expect(events.flatMap((event) => (event.type === "retry" ? [event.maxAttempts] : []))).toEqual(
        Array.from({ length: attempts - 1 }, () => attempts),
      );
    }
  });

  test("that ask for a longer wait than the worker allows are given up, and the error names the wait", async () => {
    for (const [settings, attempts] of [
      ["", 1],
      ["model_settings: { max_retry_wait: 86400 }\n", 2],
    ] as const) {
      let asked = 0;
      const { error, events } = await play({
        files: { "main.worker": worker(settings) },
        model: () => (asked++ === 0 ? { error: { code: "rate_limit", retryAfterMilliseconds: 86_400_000 } } : "at last"),
        request: { input: "x" },
      });
      expect(asked).toBe(attempts);
      expect(shownAt(0, events)).toMatch(attempts === 1 ? /^$/ : /retries in 86400\.\d s \(attempt 2 of 5\)/);
      if (attempts === 1) expect(error).toMatchObject({ message: expect.stringContaining("asks to wait for 86400 s") });
    }
  });

  test("that fail for good end the run, also from within a child", async () => {
    const { error, events } = await play({
      files: {
        "main.worker": worker("toolsets: { child: { _approval_config: { '*': { pre_approved: true } } } }"),
        "child.worker": worker("description: c"),
      },
      model: ({ worker: name }) =>
        name === "child" ? { error: { code: "auth", message: "bad key" } } : { calls: [{ tool: "child", args: { input: "x" } }] },
      request: { input: "x" },
    });
    expect(error).toMatchObject({ code: "authentication", callPath: "main/0.child" });
    expect(transcript(events).slice(-2)).toEqual(["main call-end failed", "main run-end failed"]);
  });
});

describe("the journal", () => {
  test("has an intent before and a result after every effect, and a grant before every execution; reading needs no intent", async () => {
    const { journal } = await play({
      files: { "main.worker": writer, "a.txt": "x" },
      model: ({ turn }) =>
        turn === 1
          ? {
              calls: [
                { tool: "read_file", args: { path: "a.txt" } },
                { tool: "write_file", args: { path: "b.txt", content: "y" } },
              ],
            }
          : "done",
      approval: { mode: "approve_all" },
      request: { input: "x" },
    });
    expect(journal.at(0)).toMatchObject({ type: "run-start", n: 0 });
    expect(journal.at(-1)).toMatchObject({ type: "run-end", stopReason: "done", output: "done" });
    const order = journal
      .filter(({ type }) => ["verdict", "decision", "grant", "intent", "result"].includes(type))
      .map((entry) => `${"callPath" in entry ? entry.callPath : ""} ${entry.type}`);
    expect(order.filter((line) => line.startsWith("main/1"))).toEqual([
      "main/1.write_file verdict",
      "main/1.write_file decision",
      "main/1.write_file grant",
      "main/1.write_file intent",
      "main/1.write_file result",
    ]);
    expect(order.filter((line) => line.startsWith("main/0"))).toEqual(["main/0.read_file verdict", "main/0.read_file result"]);
  });
});
