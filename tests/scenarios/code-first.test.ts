import { describe, expect, it } from "vitest";
import { type RunEvent, unsure, type WorkerRuntime } from "../../src/index.ts";
import { tool } from "../../src/toolsets/tool.ts";
import { play, type Scenario } from "./harness.ts";

const worker = (more = "") =>
  `---\ndescription: Sorts a message.\ninput: { message: string }\noutput: { kind(enum): [bug, wish] }\ncode: tools.ts:sort\n${more}---\nSort the message.\n`;

interface Input {
  readonly message: string;
}

type Sort = (input: Input, runtime: WorkerRuntime) => unknown;

/** Plays one worker with code; the prompt answers `wish`, and keeps what it was sent. */
async function sort(message: string, code: Sort, { more = "", ...rest }: Partial<Scenario> & { readonly more?: string } = {}) {
  const asked: string[] = [];
  const played = await play({
    files: { "main.worker": worker(more) },
    tools: { sort: code, pay, look },
    model: (request) => {
      asked.push(request.lastUserText());
      return { json: { kind: "wish" } };
    },
    ...rest,
    request: { input: { message }, ...rest.request },
  });
  return { ...played, asked, by: answeredBy(played.events), output: played.result?.output, code: codeOf(played.error) };
}

function answeredBy(events: readonly RunEvent[]) {
  return events.flatMap((event) => (event.type === "answered-by" ? [{ by: event.by, reason: event.reason }] : []));
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? error.message : undefined;
}

const empty = { type: "object", properties: {}, additionalProperties: false } as const;
const pay = tool({ description: "Pays.", input: empty, approval: "pre-approved", run: () => "paid" });
const look = tool({ description: "Looks.", input: empty, approval: "pre-approved", sideEffect: false, run: () => "seen" });

const tools = "toolsets: { pay: {}, look: {} }\n";
const byHangs: Sort = ({ message }) =>
  message.includes("hangs") ? { kind: "bug" } : unsure("no word that decides", "It is short.");

describe("code before the prompt", () => {
  it("answers, and the model is not asked", async () => {
    const { output, asked, by, journal } = await sort("it hangs", byHangs);
    expect({ output, asked, by }).toEqual({ output: { kind: "bug" }, asked: [], by: [{ by: "code", reason: undefined }] });
    expect(journal.filter(({ type }) => type === "call-start").map((entry) => "callPath" in entry && entry.callPath)).toEqual([
      "main",
      "main/code",
    ]);
  });

  it("hands over what it is unsure of, with its reason for people and its hint for the model", async () => {
    const { output, asked, by } = await sort("please", byHangs);
    expect({ output, by }).toEqual({ output: { kind: "wish" }, by: [{ by: "prompt", reason: "no word that decides" }] });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("It is short.");
    expect(asked[0]).not.toContain("no word that decides");
  });

  it.each<[what: string, code: Sort, reason: RegExp]>([
    [
      "throws",
      () => {
        throw new Error("oh no");
      },
      /^it failed: oh no$/,
    ],
    ["gives what does not fit", () => ({ kind: "other" }), /^it failed: its output does not fit: kind/],
    ["gives nothing", () => undefined, /^it failed: its output does not fit/],
    ["calls what the worker has not", (_, runtime) => runtime.call("rm"), /^it failed: `rm` is not in the `calls` of this code/],
  ])("hands over where it %s", async (_, code, reason) => {
    const { output, by } = await sort("x", code, { more: tools });
    expect(output).toEqual({ kind: "wish" });
    expect(by[0]?.reason).toMatch(reason);
  });

  it("fails the call in place of that with `on_failure: fail`", async () => {
    const files = { "main.worker": worker().replace("code: tools.ts:sort", "code: { from: tools.ts:sort, on_failure: fail }") };
    const { code, asked } = await sort("x", () => ({ kind: 3 }), { files });
    expect(code).toContain("the code of `main` failed: its output does not fit");
    expect(asked).toEqual([]);
  });

  it("reaches the tools of the worker, through the gate", async () => {
    const use: Sort = async (_, runtime) => ((await runtime.call("look", {})) === "seen" ? { kind: "bug" } : unsure("?"));
    const { output, events } = await sort("x", use, { more: tools });
    expect(output).toEqual({ kind: "bug" });
    const results = events.flatMap((event) => (event.type === "tool-result" ? [[event.callPath, event.result.ok]] : []));
    expect(results).toEqual([["main/code/0.look", true]]);
  });

  it("is no second try after a call that may have changed something", async () => {
    const use: Sort = async (_, runtime) => {
      await runtime.call("pay", {});
      throw new Error("too late");
    };
    const { code, asked } = await sort("x", use, { more: tools });
    expect(code).toContain("the code of `main` failed after pay, which may have changed something: too late");
    expect(asked).toEqual([]);
  });

  it("tells the model which calls were made, where it is unsure after them", async () => {
    const use: Sort = async (_, runtime) => {
      await runtime.call("look", {});
      await runtime.call("pay", {});
      return unsure("half way");
    };
    const { asked } = await sort("x", use, { more: tools });
    expect(asked[0]).toContain('{"call":"pay","input":{},"result":{"ok":true,"value":"paid"}}');
    expect(asked[0]).not.toContain('"look"');
  });

  it("ends with a denial that it does not catch, and asks no model", async () => {
    const asks = tools.replace("pay: {}", "pay: { _approval_config: { pay: { pre_approved: false } } }");
    const { code, asked } = await sort("x", (_, runtime) => runtime.call("pay", {}), { more: asks });
    expect(code).toMatch(/denied|nobody/i);
    expect(asked).toEqual([]);
  });

  it("can catch a denial, and answer all the same", async () => {
    const asks = tools.replace("pay: {}", "pay: { _approval_config: { pay: { pre_approved: false } } }");
    const use: Sort = async (_, runtime) =>
      runtime.call("pay", {}).then(
        () => ({ kind: "bug" }),
        () => ({ kind: "wish" }),
      );
    expect((await sort("x", use, { more: asks })).output).toEqual({ kind: "wish" });
  });

  it("leaves a conversation that has begun to the prompt, unless it says otherwise", async () => {
    const history = [
      { role: "user" as const, parts: [{ type: "text" as const, text: "hi" }] },
      { role: "assistant" as const, parts: [{ type: "text" as const, text: "hello" }] },
    ];
    const request = { history };
    expect((await sort("it hangs", byHangs, { request })).output).toEqual({ kind: "wish" });
    const files = { "main.worker": worker().replace("code: tools.ts:sort", "code: { from: tools.ts:sort, history: true }") };
    expect((await sort("it hangs", byHangs, { request, files })).output).toEqual({ kind: "bug" });
  });

  it("cannot be unsure where there is no prompt", async () => {
    const files = { "main.worker": worker().replace("Sort the message.\n", "") };
    expect((await sort("it hangs", byHangs, { files })).output).toEqual({ kind: "bug" });
    const { code } = await sort("please", byHangs, { files });
    expect(code).toContain("the code of `main` left the call, and there is no prompt: no word that decides");
  });

  it("is the same to a caller, in the schema and the description", async () => {
    const caller = { "main.worker": "---\ntoolsets: { triage: {} }\n---\nAsk.\n" };
    const seen: unknown[] = [];
    for (const text of [worker(), worker().replace("code: tools.ts:sort\n", "")]) {
      const { result } = await play({
        files: { ...caller, "triage.worker": text },
        tools: { sort: byHangs },
        approval: { mode: "approve_all" },
        model: (request) => {
          if (request.worker === "triage") return { json: { kind: "bug" } };
          seen.push(request.tools);
          const [last] = request.toolResults();
          return last ? JSON.stringify(last.result) : { calls: [{ tool: "triage", args: { message: "it hangs" } }] };
        },
        request: { input: "go" },
      });
      seen.push(result?.output);
    }
    expect(seen.slice(0, 3)).toEqual(seen.slice(3));
  });

  it("can be a tool of the worker's name, which then means the worker to models and to code", async () => {
    const input = { type: "object", properties: { message: { type: "string" } }, required: ["message"] } as const;
    const triage = tool({
      description: "Sorts.",
      input,
      sideEffect: false,
      run: (args) => byHangs(args as unknown as Input, undefined as never),
    });
    const both = tool({
      ...{ description: "Sorts two.", input: empty, calls: ["triage"], replayable: true, approval: "pre-approved" },
      run: async (_, runtime) => [
        await runtime.call("triage", { message: "it hangs" }),
        await runtime.call("triage", { message: "please" }),
      ],
    });
    const { result, error } = await play({
      files: {
        "main.worker": "---\ntoolsets: { triage: {}, both: {} }\n---\nAsk.\n",
        "triage.worker": worker().replace("tools.ts:sort", "tools.ts:triage"),
      },
      tools: { triage, both },
      approval: { mode: "approve_all" },
      model: (request) => {
        if (request.worker === "triage") return { json: { kind: "wish" } };
        const results = request.toolResults().map((one) => (one.result.ok ? one.result.value : one.result));
        if (results.length > 0) return JSON.stringify(results);
        return {
          calls: [
            { tool: "triage", args: { message: "please" } },
            { tool: "both", args: {} },
          ],
        };
      },
      request: { input: "go" },
    });
    expect(error).toBeUndefined();
    expect(JSON.parse(String(result?.output))).toEqual([{ kind: "wish" }, [{ kind: "bug" }, { kind: "wish" }]]);
  });
});
