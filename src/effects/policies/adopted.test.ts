import { expect, it } from "vitest";
import type { Fact } from "../../protocol/fact.ts";
import { adoptedFacts } from "./adopted.ts";

const keyed = (callPath: string, key: string) => ({ callPath, key });
const usage = { requests: 1, inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
const start: Fact = {
  ...{ type: "run-start", runId: "r", program: "p", programDigest: "d", entry: "main", mode: "prompt", onDenied: "return" },
  ...{
    limits: { usd: 1000 },
    prices: [{ model: "*", input: 0, output: 0 }],
    onUnanswered: "hold",
    version: "1",
    owner: "o",
    input: { input: "x", files: [], fragments: [] },
  },
  compiled: { target: "main.worker", model: "scripted:evil.mjs", set: ["a=b"], modelFor: ["main=c:d"] },
};
const asked = (callPath: string): readonly Fact[] => [
  {
    ...{ type: "verdict", ...keyed(callPath, "1"), tool: "write", args: {}, facts: {}, digest: "d", asked: "a" },
    ...{ recorded: { creates: "x.worker" }, verdict: { type: "ask", why: "w", isUnstated: true } },
  },
  { type: "intent", ...keyed(callPath, "question 1"), kind: "question", digest: "a", sideEffect: false, detail: {} },
  {
    ...{ type: "decision", ...keyed(callPath, "1"), tool: "write", source: "person", memory: "m" },
    decision: { type: "approve", remember: "run", rule: "main/*" },
    remembered: { worker: "main", reference: "fs", tool: "write", args: {}, shown: ["s"] },
    allowed: { memory: "m", worker: "main", tool: "write", rule: "main/*" },
  },
  { type: "grant", ...keyed(callPath, "1"), tool: "write" },
];
const result = (callPath: string): Fact => ({
  ...{ type: "result", ...keyed(callPath, "tool"), kind: "tool", digest: "d" },
  outcome: { type: "value", value: { ok: true, value: 1 } },
});

it("keeps a call that has its result, without what was allowed beside it", () => {
  const [, verdict, decision, grant, last] = adoptedFacts([start, ...asked("main/0.write"), result("main/0.write")]);
  expect(verdict).not.toHaveProperty("recorded");
  expect(decision).toEqual({
    ...{ type: "decision", ...keyed("main/0.write", "1"), tool: "write", source: "person" },
    decision: { type: "approve" },
  });
  expect([grant?.type, last?.type]).toEqual(["grant", "result"]);
});

it("keeps nothing that was found out or decided about a call without an end", () => {
  const begun: Fact = {
    type: "call-start",
    callPath: "main/0.helper",
    kind: "worker",
    name: "helper",
    depth: 1,
    input: start.input,
  };
  const facts = adoptedFacts([start, ...asked("main/0.helper"), begun, ...asked("main/0.helper/0.write")]);
  expect(facts.map(({ type }) => type)).toEqual(["run-start", "call-start"]);
});

it("keeps denials, so that what a model was told stays so", () => {
  const [verdict, question, decision] = asked("main/0.write") as [Fact, Fact, Fact];
  const denied = { ...decision, decision: { type: "deny", note: "no" } } as Fact;
  expect(adoptedFacts([start, verdict, question, denied]).map(({ type }) => type)).toEqual(["run-start", "verdict", "decision"]);
});

it("takes over no option, answer, created worker, connection or lease", () => {
  const facts = adoptedFacts([
    start,
    { type: "answer", ...keyed("main/0.write", "1"), digest: "a", decision: { type: "approve" } },
    {
      type: "worker",
      ...keyed("main/0.w", "worker"),
      name: "w",
      id: "w",
      file: "w.worker",
      digest: "d",
      text: "",
      capability: {},
    },
    { type: "intent", ...keyed("main", "connect mcp"), kind: "connect", digest: "d", sideEffect: false, detail: {} },
    { type: "revocation", callPath: "main", worker: "main", tool: "write", memory: "m" },
    { type: "run-end", stopReason: "suspended", usage, denied: 0 },
  ]);
  const { owner: _, onUnanswered: __, prices: ___, ...kept } = start;
  expect(facts).toEqual([
    { ...kept, limits: {}, compiled: { target: "main.worker" } },
    { type: "run-end", stopReason: "suspended", usage, denied: 0 },
  ]);
});

it("has nothing of a record without a beginning", () => {
  expect(adoptedFacts([result("main/0.write")])).toEqual([]);
});
