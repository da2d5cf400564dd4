import { expect, test } from "vitest";
import { z } from "zod";
import { type ApprovalPolicy, type ApprovalRequest, type CallOptions, ToolFailure, tool } from "../../src/index.ts";
import { renderRequest } from "../../src/ui/render-request.ts";
import { play, worker } from "./harness.ts";

const files = {
  "main.worker": worker("toolsets: { review: {} }"),
  "reader.worker": worker("description: Reads.\nfragments: [style.md]\ninput: { input: string, deck?: attachment }", "You read."),
  "style.md": "Be brief.",
  "deck.txt": "slides",
};

interface Calling {
  readonly callee?: string;
  readonly input?: Record<string, string>;
  readonly options: CallOptions;
  readonly approval?: ApprovalPolicy;
  readonly reader?: string;
  readonly times?: number;
  readonly replays?: boolean;
}

/** A tool of the entry calls a worker with more than its input. What the call rejects with becomes `failed: …`. */
async function callWith({ callee = "reader", input = { input: "go" }, options, times = 1, ...calling }: Calling) {
  const { approval, reader, replays = true } = calling;
  const review = tool({
    input: z.object({}),
    approval: "pre-approved",
    calls: ["reader", "count"],
    run: async (_, runtime) => {
      const results: unknown[] = [];
      for (let index = 0; index < times; index++)
        results.push(
          await runtime.call(callee, input, options).catch((thrown: unknown) => {
            if (thrown instanceof ToolFailure) return thrown.toolError;
            throw thrown;
          }),
        );
      return results;
    },
  });
  const played = await play({
    files: reader === undefined ? files : { ...files, "reader.worker": reader },
    tools: { review, count: tool({ input: z.object({}).loose(), approval: "pre-approved", run: () => 1 }) },
    approval: approval ?? { mode: "approve_all" },
    model: ({ worker: name, turn }) => (name === "main" && turn === 1 ? { calls: [{ tool: "review", args: {} }] } : "done"),
    request: { input: "begin" },
    replays,
  });
  const [asked] = played.model.requests.filter(({ system }) => system[0] === "You read.");
  const result = played.events.find((event) => event.type === "tool-result" && event.tool === "review");
  return { ...played, parts: asked?.messages[0]?.parts, value: (result as { result: { value?: unknown } }).result.value };
}

function asking(requests: ApprovalRequest[], answer: "once" | "run" = "once"): ApprovalPolicy {
  const approver = async (request: ApprovalRequest) => {
    requests.push(request);
    return answer === "run" ? { type: "approve" as const, remember: "run" as const } : { type: "approve" as const };
  };
  return { mode: "prompt", approver };
}

test("the texts arrive after the worker's own fragments, each a part of its own, and not in its input", async () => {
  const { parts, journal } = await callWith({ options: { extraContext: ["first", "second"] } });
  expect(parts).toEqual(["go", "Be brief.", "first", "second"].map((text) => ({ type: "text", text })));
  const start = journal.find((entry) => entry.type === "call-start" && entry.name === "reader");
  expect(start).toMatchObject({ input: { input: { input: "go" } } });
});

test("whoever is asked sees them, beside attachments too, and what was approved for the run was approved with them", async () => {
  const requests: ApprovalRequest[] = [];
  const input = { input: "go", deck: "deck.txt" };
  await callWith({ input, options: { extraContext: ["a hidden order"] }, approval: asking(requests, "run"), times: 2 });
  expect(requests.map(({ args }) => args)).toEqual([{ ...input, extra_context: ["a hidden order"] }]);
  const [request] = requests;
  const shown = request && renderRequest(request, { columns: 80, style: (_, text) => text }).text;
  expect(shown).toContain("deck.txt, text/plain, 6 bytes");
  expect(shown).toContain('"a hidden order"');
});

test("another context is another call: it asks again, and its digest is another one", async () => {
  const requests: ApprovalRequest[] = [];
  let calls = 0;
  const options = {
    get extraContext() {
      calls++;
      return [`text ${calls}`];
    },
  };
  const { journal } = await callWith({ options, approval: asking(requests, "run"), times: 2, replays: false });
  expect(requests).toHaveLength(2);
  const digests = journal.flatMap((entry) => (entry.type === "verdict" && entry.tool === "reader" ? [entry.digest] : []));
  expect(new Set(digests).size).toBe(2);
});

test("edited context is what runs", async () => {
  const approver = async ({ args, tool: name }: ApprovalRequest) =>
    name === "reader" ? { type: "approve" as const, args: { ...args, extra_context: ["milder"] } } : { type: "approve" as const };
  const { parts } = await callWith({ options: { extraContext: ["harsh"] }, approval: { mode: "prompt", approver } });
  expect(parts?.at(-1)).toEqual({ type: "text", text: "milder" });
});

test.each([
  ["a tool takes none", { callee: "count", options: { extraContext: ["x"] } }, "only workers take `extraContext`"],
  ["an empty text is none", { options: { extraContext: [" "] } }, "a list of texts"],
  ["a text is no list", { options: { extraContext: "x" as never } }, "a list of texts"],
  ["a misspelt option", { options: { extra_context: ["x"] } as never }, "no option `extra_context`"],
  [
    "a worker with such a field of its own",
    { reader: worker("description: x\ninput: { input: string, extra_context?: string }"), options: { extraContext: ["x"] } },
    "a field `extra_context` of its own",
  ],
])("%s: the caller is told", async (_, calling, message) => {
  const { value } = await callWith(calling);
  expect(value).toEqual([expect.objectContaining({ type: "invalid_arguments", error: expect.stringContaining(message) })]);
});

test("an empty list is no context, for a tool too", async () => {
  expect((await callWith({ callee: "count", options: { extraContext: [] } })).value).toEqual([1]);
  expect((await callWith({ options: { extraContext: [] } })).parts).toHaveLength(2);
});

test("code that starts a run takes no fragments", async () => {
  const { error } = await play({
    files: {},
    tools: { start: () => "done" },
    model: () => "",
    request: { entry: "tools.ts:start", input: {}, fragments: ["x"] },
  });
  expect(error).toMatchObject({ name: "RunError", code: "input_invalid", message: expect.stringContaining("fragments") });
});
