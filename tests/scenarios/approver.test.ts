import { expect, test } from "vitest";
import type { ApprovalDecision, ApprovalPolicy, ApproverOptions } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

const writer = worker("input: { input?: string }\ntoolsets: { filesystem: {} }");

/** Writes to these paths, one a turn; the approver gives these answers in turn. */
function write(
  paths: readonly string[],
  answers: readonly ((options: ApproverOptions) => Promise<ApprovalDecision>)[],
  policy: Partial<ApprovalPolicy> = {},
) {
  const left = [...answers];
  return play({
    files: { "main.worker": writer },
    model: ({ turn }) => {
      const path = paths[turn - 1];
      return path === undefined ? "done" : { calls: [{ tool: "write_file", args: { path, content: "x" } }] };
    },
    approval: { mode: "prompt", approver: async (_, options) => (await left.shift()?.(options)) as ApprovalDecision, ...policy },
  });
}

const approveForRun = async (): Promise<ApprovalDecision> => ({ type: "approve", remember: "run" });
const deny = async (): Promise<ApprovalDecision> => ({ type: "deny" });

test("an approver sees what is approved for the run, and can take it back: the call asks again", async () => {
  const listed: unknown[] = [];
  const { result, journal } = await write(
    ["a.txt", "b.txt", "a.txt", "a.txt"],
    [
      async ({ memory }) => {
        listed.push(memory.list());
        return approveForRun();
      },
      async ({ memory }) => {
        const [call] = memory.list();
        listed.push(call);
        if (!call) throw new Error("nothing is remembered");
        expect([memory.revoke(call), memory.revoke(call), memory.list()]).toEqual([true, false, []]);
        return { type: "deny" };
      },
      approveForRun,
    ],
  );
  const args = { path: "a.txt", content: "x" };
  expect(listed).toEqual([[], { worker: "main", reference: "filesystem", tool: "write_file", args }]);
  expect(result?.denied).toHaveLength(1);
  const sources = journal.flatMap((entry) => (entry.type === "decision" ? [entry.source] : []));
  expect(sources).toEqual(["person", "person", "person", "memory"]);
  const [first] = journal.flatMap((entry) => (entry.type === "decision" ? [entry.memory] : []));
  const revoked = { worker: "main", tool: "write_file", memory: first };
  expect(journal.filter(({ type }) => type === "revocation")).toMatchObject([revoked]);
});

test("an approver is told why edited arguments would not be taken", async () => {
  const problems: (string | undefined)[] = [];
  const { files } = await write(
    ["a.txt"],
    [
      async ({ checkArgs }) => {
        problems.push(await checkArgs({ path: 5 }), await checkArgs({ path: "a", content: "⟦secret:KEY⟧" }));
        problems.push(await checkArgs({ path: "b.txt", content: "y" }));
        return { type: "approve", args: { path: "b.txt", content: "y" } };
      },
      async () => ({ type: "approve" }),
    ],
  );
  expect(problems).toEqual([
    expect.stringContaining("the arguments of `write_file` do not fit"),
    expect.stringContaining("hold a secret"),
    undefined,
  ]);
  expect(files["b.txt"]).toBe("y");
});

test("a question that nobody answers in time is denied with that reason, not counted, and the next one is put", async () => {
  const asked: string[] = [];
  const { result, files, events } = await play({
    files: { "main.worker": writer },
    model: ({ turn, toolResults }) => {
      if (turn <= 3) return { calls: [{ tool: "write_file", args: { path: "a.txt", content: "x" } }] };
      return toolResults().flatMap(({ result: given }) => (given.ok ? [] : [given.error.error]))[0] ?? "none";
    },
    approval: (host) => ({
      mode: "prompt",
      timeoutSeconds: 30,
      approver: async (request, { signal }) => {
        asked.push(request.callPath);
        if (asked.length === 3) return { type: "approve" };
        const aborted = new Promise<never>((_, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
        await host.clock.advance(29_999);
        expect(signal.aborted).toBe(false);
        await host.clock.advance(1);
        return aborted;
      },
    }),
    request: { limits: { seconds: 1000 } },
  });
  expect(asked).toHaveLength(3);
  expect(result?.denied.map(({ source, note }) => [source, note])).toEqual([
    ["timeout", "nobody answered within 30 seconds"],
    ["timeout", "nobody answered within 30 seconds"],
  ]);
  expect(files["a.txt"]).toBe("x");
  expect(events.filter(({ type }) => type === "approval-decision")).toMatchObject([
    { source: "timeout", decision: { type: "deny" } },
    { source: "timeout" },
    { source: "person" },
  ]);
});

test("a run goes on though an approver does not give up when its time is over", async () => {
  const { result } = await play({
    files: { "main.worker": writer },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "write_file", args: { path: "a.txt", content: "x" } }] } : "done"),
    approval: (host) => ({
      mode: "prompt",
      timeoutSeconds: 1,
      approver: () => {
        void host.clock.advance(1000).then(() => host.clock.advance(1000));
        return new Promise(() => undefined);
      },
    }),
    request: { limits: { seconds: 1000 } },
  });
  expect(result?.output).toBe("done");
  expect(result?.denied).toMatchObject([{ source: "timeout" }]);
});

test("an answer in time is taken, and nothing waits for the clock afterwards", async () => {
  const { result } = await play({
    files: { "main.worker": writer },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "write_file", args: { path: "a.txt", content: "x" } }] } : "done"),
    approval: { mode: "prompt", timeoutSeconds: 30, approver: deny },
    request: { limits: { seconds: 1000 } },
  });
  expect(result?.denied).toMatchObject([{ source: "person" }]);
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5", 3_000_000])("a time-out of %s is a mistake", async (seconds) => {
  const { error } = await write(["a.txt"], [deny], { timeoutSeconds: seconds as number });
  expect(String(error)).toContain("`approval.timeoutSeconds` must be a number of seconds");
});
