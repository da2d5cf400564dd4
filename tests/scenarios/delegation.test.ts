import { describe, expect, test } from "vitest";
import { type ApprovalPolicy, type ApprovalRequest, compile } from "../../src/index.ts";
import type { JournalEntry } from "../../src/protocol/fact.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { play, worker } from "./harness.ts";

const helper = worker("description: Helps.\ninput: { input: string, deck?: attachment }", "You help.");
const scored = worker("description: Scores.\noutput: { score: integer }", "You score.");

interface Calling {
  readonly toolsets?: string;
  readonly calls: readonly (readonly [tool: string, args: JsonObject])[];
  readonly approval?: ApprovalPolicy;
  readonly answer?: string;
}

/** Plays one turn of calls by `main`. */
async function callBy({
  toolsets = "delegation: { allow_workers: [helper, scored] }",
  calls,
  approval,
  answer = "helped",
}: Calling) {
  const asked: ApprovalRequest[] = [];
  const approver = async (request: ApprovalRequest) => {
    asked.push(request);
    return { type: "approve" as const };
  };
  const played = await play({
    files: {
      "main.worker": worker(`toolsets: { ${toolsets} }`),
      "helper.worker": helper,
      "scored.worker": scored,
      "other.worker": worker("description: Others."),
      "deck.pdf": "slides",
      "deck.txt": "slides",
    },
    approval: approval ?? { mode: "prompt", approver },
    model: ({ worker: name, turn }) => {
      if (name === "main") return turn === 1 ? { calls: calls.map(([tool, args]) => ({ tool, args })) } : "done";
      return name === "scored" ? '{ "score": 3 }' : answer;
    },
    request: { input: "go" },
  });
  expect(played.error).toBeUndefined();
  const ended = played.events.flatMap((event) => (event.type === "tool-result" && event.depth === 0 ? [event] : []));
  const results = ended.toSorted((a, b) => (a.callPath < b.callPath ? -1 : 1)).map(({ result }) => result);
  const values = results.map((result) => (result.ok ? result.value : `${result.error.type}: ${result.error.error}`));
  const [given] = played.model.requests.filter(({ system }) => system[0] === "You help.");
  return { ...played, asked, values, parts: given?.messages[0]?.parts };
}

/** Facts without what tells two runs apart anyway, under one name for the call. */
function comparable(journal: readonly JournalEntry[]) {
  const calls = journal.filter(
    ({ type }) => !["run-start", "message", "intent", "outcome", "call-end", "run-end"].includes(type),
  );
  return JSON.parse(
    JSON.stringify(
      calls.filter((entry) => "callPath" in entry && entry.callPath.includes("/")),
      (key, value) => (key === "time" || key === "at" ? undefined : value),
    ).replaceAll("0.worker_call", "0.helper"),
  );
}

describe("a call by `worker_call` and one by the worker's own name are the same call", () => {
  const byName: Calling = { toolsets: "helper: {}", calls: [["helper", { input: "please", deck: "deck.pdf" }]] };
  const byCall: Calling = { calls: [["worker_call", { worker: "helper", input: "please", attachments: ["deck.pdf"] }]] };

  test("same question, same result, same record but for the name", async () => {
    const [named, called] = [await callBy(byName), await callBy(byCall)];
    expect(called.values).toEqual(["helped"]);
    expect(named.values).toEqual(called.values);
    const questionOf = ({ asked }: typeof named) => asked.map(({ runId: _, callPath: __, ...question }) => question);
    expect(questionOf(called)).toEqual(questionOf(named));
    expect(called.asked[0]).toMatchObject({
      tool: "helper",
      args: { input: "please", deck: "deck.pdf" },
      callPath: "main/0.worker_call",
    });
    expect(comparable(called.journal)).toEqual(comparable(named.journal));
    expect(comparable(called.journal).length).toBeGreaterThan(3);
    expect(called.parts).toEqual(named.parts);
  });

  test.each([
    ["deny main/helper", { rule: "main/helper", effect: "block" }, "blocked", "blocked"],
    ["allow helper", { rule: "helper(input=pl*)", effect: "allow" }, "helped", "helped"],
    ["deny worker_call(helper)", { rule: "worker_call(helper)", effect: "block" }, "blocked", "helped"],
    ["allow worker_call(scored)", { rule: "worker_call(scored)", effect: "allow" }, "denied", "denied"],
  ] as const)("same rules: %s", async (_, rule, expectedOfCall, expectedOfName) => {
    const allowed = rule.effect === "block" ? [{ rule: "helper", effect: "allow" as const }] : [];
    const approval: ApprovalPolicy = { mode: "prompt", rules: [rule, ...allowed] };
    expect((await callBy({ ...byCall, approval })).values[0]).toMatch(new RegExp(`^${expectedOfCall}`));
    expect((await callBy({ ...byName, approval })).values[0]).toMatch(new RegExp(`^${expectedOfName}`));
  });

  test("an approval for the run holds for both", async () => {
    const asked: ApprovalRequest[] = [];
    const approver = async (request: ApprovalRequest) => {
      asked.push(request);
      return { type: "approve" as const, remember: "run" as const };
    };
    const { values } = await callBy({
      toolsets: "helper: {}, delegation: { allow_workers: ['*'] }",
      calls: [
        ["helper", { input: "a" }],
        ["worker_call", { worker: "helper", input: "a" }],
        ["worker_call", { worker: "helper", input: { input: "b" } }],
      ],
      approval: { mode: "prompt", approver },
    });
    expect(values).toEqual(["helped", "helped", "helped"]);
    expect(asked.map(({ args }) => args)).toEqual([{ input: "a" }, { input: "b" }]);
  });

  test("the author of the caller pre-approves `worker_call`, and a denial says how", async () => {
    const preApproved = "delegation: { allow_workers: [helper], _approval_config: { worker_call: { pre_approved: true } } }";
    expect(await callBy({ ...byCall, toolsets: preApproved })).toMatchObject({ values: ["helped"], asked: [] });
    const { result } = await callBy({ ...byCall, approval: { mode: "prompt" } });
    expect(result?.denied).toMatchObject([
      {
        tool: "helper",
        rule: "main/helper",
        allow: "toolsets: { delegation: { _approval_config: { worker_call: { pre_approved: true } } } }",
      },
    ]);
  });

  test("an approver edits the worker's input, and cannot turn it into a call of another worker", async () => {
    const approver = async ({ args }: ApprovalRequest) =>
      args["input"] === "edited" ? { type: "approve" as const } : { type: "approve" as const, args: { input: "edited" } };
    const { parts } = await callBy({ ...byCall, approval: { mode: "prompt", approver } });
    expect(parts).toEqual([{ type: "text", text: "edited" }]);
  });
});

describe("worker_call", () => {
  test("calls the workers that its globs name, and tells the others apart", async () => {
    const { values, model } = await callBy({
      toolsets: "delegation: { allow_workers: [h*] }",
      calls: [
        ["worker_call", { worker: "helper", input: "a" }],
        ["worker_call", { worker: "other", input: "a" }],
        ["worker_call", { input: "a" }],
        ["worker_call", { worker: "helper", input: 3 }],
        ["worker_call", { worker: "helper", wish: 3 }],
      ],
    });
    expect(values).toEqual([
      "helped",
      "unknown_tool: `other` is not among the workers that may be called",
      "invalid_arguments: `worker_call` needs the name of a `worker`",
      "invalid_arguments: `input` of `worker_call` is a text or an object of fields",
      expect.stringContaining("invalid_arguments: the arguments of `worker_call` do not fit: wish: is unknown"),
    ]);
    const [definition] = model.requests[0]?.tools ?? [];
    expect(definition).toMatchObject({ name: "worker_call", inputSchema: { properties: { worker: { enum: ["helper"] } } } });
    expect(definition?.description).toContain("helper: Helps.");
  });

  test("calls none without names, and says so", async () => {
    const { values } = await callBy({ toolsets: "delegation: {}", calls: [["worker_call", { worker: "helper", input: "a" }]] });
    expect(values).toEqual(["unknown_tool: `helper` is not among the workers that may be called"]);
  });

  test("calls the locked worker whatever it is told", async () => {
    const { values } = await callBy({
      toolsets: "delegation: { lock_worker: helper }",
      calls: [
        ["worker_call", { worker: "other", input: "a" }],
        ["worker_call", { input: "a" }],
      ],
    });
    expect(values).toEqual(["helped", "helped"]);
  });

  test("bounds attachments, beside the policies of both workers", async () => {
    const caps = "allowed_suffixes: [.pdf], max_attachments: 1, max_bytes: 6";
    const call = (attachments: string[]) => ["worker_call", { worker: "helper", input: "a", attachments }] as const;
    const { values } = await callBy({
      toolsets: `delegation: { allow_workers: [helper], ${caps} }`,
      calls: [call(["deck.pdf"]), call(["deck.txt"]), call(["deck.pdf", "deck.pdf"])],
    });
    expect(values).toEqual([
      "helped",
      expect.stringMatching(/^suffix_not_allowed/),
      expect.stringMatching(/^invalid_arguments: `helper` takes one attachment/),
    ]);
    const small = await callBy({
      toolsets: "delegation: { allow_workers: [helper], max_bytes: 5 }",
      calls: [
        call(["deck.pdf"]),
        ["worker_call", { worker: "helper", input: { input: "a", deck: "deck.pdf" }, attachments: ["deck.pdf"] }],
      ],
    });
    expect(small.values).toEqual([
      expect.stringMatching(/^attachments_too_large/),
      expect.stringMatching(/^invalid_arguments: attachments are named twice/),
    ]);
  });

  test("hands on texts as parts of their own, shown in the question", async () => {
    const { parts, asked } = await callBy({
      calls: [["worker_call", { worker: "helper", input: "a", extra_context: ["the procedure"] }]],
    });
    expect(parts).toEqual(["a", "the procedure"].map((text) => ({ type: "text", text })));
    expect(asked[0]?.args).toEqual({ input: "a", extra_context: ["the procedure"] });
  });

  test("gives JSON where it is expected, its text where not, and refuses to expect it of text", async () => {
    const { values, asked } = await callBy({
      calls: [
        ["worker_call", { worker: "scored", input: "a", expect_json: true }],
        ["worker_call", { worker: "scored", input: "a" }],
        ["worker_call", { worker: "helper", input: "a", expect_json: true }],
      ],
    });
    expect(values).toEqual([
      { score: 3 },
      '{"score":3}',
      "invalid_arguments: `helper` has no `output` schema, so there is no JSON to expect",
    ]);
    expect(asked).toHaveLength(2);
  });
});

describe("the compiler", () => {
  async function compiled(toolsets: string) {
    const host = memoryHost({
      files: { "/p/main.worker": worker(`toolsets: { ${toolsets} }`), "/p/helper.worker": helper, "/p/other.worker": scored },
    });
    const { diagnostics, outline } = await compile({ target: "/p", host, model: "openai:gpt" });
    return { outline, said: diagnostics.map(({ code, message }) => `${code}: ${message}`) };
  }

  test("reaches exactly the workers that the globs name", async () => {
    const { outline, said } = await compiled("delegation: { allow_workers: ['h*'] }");
    expect(said).toEqual([]);
    expect(outline?.ceiling.workers).toEqual(["helper", "main"]);
    expect(outline?.ceiling.rules).toEqual(["delegation: call helper"]);
    expect(outline?.workers[0]?.toolsets[0]).toMatchObject({ kind: "built-in", workers: ["helper"] });
  });

  test("refuses names that mean no worker, and warns of globs that do", async () => {
    expect((await compiled("delegation: { allow_workers: [helpr] }")).said).toEqual([
      "toolset-config: `delegation` allows `helpr`, and no worker has that name",
    ]);
    expect((await compiled("delegation: { allow_workers: [helper, 'x*'] }")).said).toEqual([
      "toolset-warning: `delegation` allows `x*`, and no worker has that name",
    ]);
    expect((await compiled("delegation: { allow_workers: [helper], lock_worker: other }")).said).toEqual([
      "toolset-config: `delegation` does not take this configuration: `lock_worker` names `other`, which `allow_workers` leaves out",
    ]);
    expect((await compiled("delegation: {}")).said).toEqual([
      "toolset-warning: `delegation`: `allow_workers` names no worker, so every call is blocked",
    ]);
  });
});
