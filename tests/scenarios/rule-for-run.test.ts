import { expect, test } from "vitest";
import { type ApprovalRequest, type Approver, tool } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

const write = (path: string, content = "text") => ({ tool: "write_file", args: { path, content } });

/** Plays one turn for each list of calls. */
function playCalls(turns: readonly (readonly ReturnType<typeof write>[])[], approver: Approver) {
  return play({
    files: { "main.worker": worker("input: { input?: string }\ntoolsets: { filesystem: {} }") },
    model: ({ turn }) => {
      const calls = turns[turn - 1];
      return calls ? { calls } : "done";
    },
    approval: { mode: "prompt", approver },
  });
}

function sourcesOf({ journal }: Awaited<ReturnType<typeof play>>) {
  return journal.flatMap((entry) => (entry.type === "decision" ? [`${entry.decision.type} ${entry.source}`] : []));
}

test("proposes rules from narrow to wide, with what each covers, and allows the one that was chosen", async () => {
  const asked: ApprovalRequest[] = [];
  const turns = [[write("out/a.txt")], [write("b.txt")], [write("out/c.txt")], [write("d.txt")]];
  const played = await playCalls(turns, async (request) => {
    asked.push(request);
    const [, folder] = request.rules ?? [];
    return asked.length === 1 && folder ? { type: "approve", rule: folder.rule } : { type: "deny" };
  });
  expect({ error: played.error, rules: asked.map(({ rules }) => rules) }).toEqual({
    error: undefined,
    rules: [
      [
        { rule: "main/write_file(out/a.txt)", covers: 1, of: 1 },
        { rule: "main/write_file(out/*)", covers: 1, of: 1 },
        { rule: "main/write_file", covers: 1, of: 1 },
      ],
      [
        { rule: "main/write_file(b.txt)", covers: 1, of: 2 },
        { rule: "main/write_file", covers: 2, of: 2 },
      ],
      [
        { rule: "main/write_file(d.txt)", covers: 1, of: 4 },
        { rule: "main/write_file", covers: 4, of: 4 },
      ],
    ],
  });
  expect(sourcesOf(played)).toEqual(["approve person", "deny person", "approve rule", "deny person"]);
  expect(played.journal.flatMap((entry) => (entry.type === "decision" && entry.allowed ? [entry.allowed] : []))).toEqual([
    { memory: expect.any(String), worker: "main", tool: "write_file", rule: "main/write_file(out/*)" },
  ]);
  expect(Object.keys(played.files)).toContain("out/c.txt");
});

test("proposes no folder of what may be no path, and keeps a rule for one to its folder", async () => {
  const asked: ApprovalRequest[] = [];
  const run = () => "got";
  const input = { type: "object", properties: { path: { type: "string" } } } as const;
  const paths = ["docs/a", "docs/b", "docs/../../etc/passwd"];
  const played = await play({
    files: { "main.worker": worker("input: { input?: string }\ntoolsets: { get: {} }") },
    tools: { get: tool({ input, run }) },
    model: ({ turn }) => {
      const path = paths[turn - 1];
      return path === undefined ? "done" : { calls: [{ tool: "get", args: { path } }] };
    },
    approval: {
      mode: "prompt",
      approver: async (request) => {
        asked.push(request);
        return asked.length === 1 ? { type: "approve", rule: "get(docs/*)" } : { type: "deny" };
      },
    },
  });
  expect(asked[0]?.rules).toEqual([
    { rule: "main/get(docs/a)", covers: 1, of: 1 },
    { rule: "main/get", covers: 1, of: 1 },
  ]);
  expect(sourcesOf(played)).toEqual(["approve person", "approve rule", "deny person"]);
});

test("settles calls that wait for their question", async () => {
  const turn = ["a", "b", "c"].map((name) => write(`${name}.txt`));
  const played = await playCalls([turn], async () => ({ type: "approve", rule: "write_file" }));
  expect(sourcesOf(played)).toEqual(["approve person", "approve rule", "approve rule"]);
});

test("lists a rule, and asks again once it is revoked", async () => {
  const listed: (readonly string[])[] = [];
  let questions = 0;
  const turns = [[write("a.txt")], [write("package.json")], [write("b.txt")]];
  const played = await playCalls(turns, async (_request, { memory }) => {
    listed.push(memory.rules().map(({ rule }) => rule));
    const [rule] = memory.rules();
    if (rule) expect([memory.revoke(rule), memory.revoke(rule), memory.rules()]).toEqual([true, false, []]);
    return ++questions === 1 ? { type: "approve", rule: "write_file" } : { type: "deny" };
  });
  expect(listed).toEqual([[], ["write_file"], []]);
  expect(sourcesOf(played)).toEqual(["approve person", "deny person", "deny person"]);
  expect(played.journal.filter(({ type }) => type === "revocation")).toHaveLength(1);
});

test("asks for a protected name, and for what an author made to ask, whatever the rules of the run allow", async () => {
  const rules: unknown[] = [];
  const approver: Approver = async (request) => {
    rules.push(request.rules);
    return { type: "approve", ...(request.rules ? { rule: "write_file" } : {}) };
  };
  const played = await playCalls([[write("a.txt")], [write("package.json")]], approver);
  expect(sourcesOf(played)).toEqual(["approve person", "approve person"]);
  expect(rules).toEqual([expect.any(Array), undefined]);
});

test.for([
  ["does not cover the call", { type: "approve", rule: "write_file(other/*)" }, "a.txt"],
  ["cannot be read", { type: "approve", rule: "(" }, "a.txt"],
  ["comes with arguments", { type: "approve", rule: "write_file", args: {} }, "a.txt"],
  ["is given for a call that somebody made to ask", { type: "approve", rule: "write_file" }, "package.json"],
] as const)("denies a call with a rule that %s", async ([, decision, path]) => {
  const played = await playCalls([[write(path)]], async () => decision);
  expect(sourcesOf(played)).toEqual(["deny error"]);
  expect(Object.keys(played.files)).toEqual(["main.worker"]);
});
