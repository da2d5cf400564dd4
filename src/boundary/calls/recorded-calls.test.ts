import { describe, expect, it } from "vitest";
import type { Fact } from "../../protocol/fact.ts";
import { noUsage } from "../../protocol/usage.ts";
import { markRepeated, recordedCalls } from "./recorded-calls.ts";

const start = (callPath: string, name: string, input: string): Fact => ({
  type: "call-start",
  ...{ callPath, kind: "worker", name, depth: 1, model: "scripted:s.ts" },
  input: { input: { message: input }, files: [], fragments: [] },
});
const end = (callPath: string, rest: object = { output: "yes" }): Fact => ({
  ...{ type: "call-end", callPath, stopReason: "done", usage: { ...noUsage, usd: 0.5 } },
  ...rest,
});
const decision = (callPath: string, made: object): Fact =>
  ({ type: "decision", callPath, key: "d", tool: "write_file", decision: made, source: "person" }) as Fact;

function marksOf(...between: readonly Fact[]): readonly string[] {
  const facts = [start("main/0.triage", "triage", "a"), ...between];
  const ended = facts.some(({ type }) => type === "call-end") ? facts : [...facts, end("main/0.triage")];
  return recordedCalls({ run: "r", facts: ended, times: ended.map((_, index) => 100 * index) }, "triage")[0]?.marks ?? [];
}

describe("recordedCalls", () => {
  it("has what a worker was asked, what it answered, and what that took", () => {
    const facts = [start("main/0.triage", "triage", "a"), start("main/1.other", "other", "b"), end("main/0.triage")];
    expect(recordedCalls({ run: "r", facts, times: [1_000, 1_010, 1_200] }, "triage")).toMatchObject([
      {
        ...{ from: "r/main/0.triage", worker: "triage", input: { message: "a" }, output: "yes", by: "prompt" },
        ...{ model: "scripted:s.ts", usd: 0.5, ms: 200, time: 1_000, marks: [] },
      },
    ]);
  });

  it("leaves out what has not ended, and counts what ended in two attempts once", () => {
    const facts = [
      ...[start("main/0.triage", "triage", "a"), end("main/0.triage", { output: "one" })],
      ...[start("main/1.triage", "triage", "b"), start("main/0.triage", "triage", "a"), end("main/0.triage", { output: "two" })],
    ];
    const calls = recordedCalls({ run: "r", facts, times: facts.map((_, index) => index) }, "triage");
    expect(calls.map(({ output }) => output)).toEqual(["two"]);
  });

  it.each<[marks: string[], ...between: Fact[]]>([
    [[]],
    [["denied"], decision("main/0.triage/0.write_file", { type: "deny" })],
    [["denied"], decision("main/0.triage/0.write_file", { type: "stop" })],
    [["edited"], decision("main/0.triage/0.write_file", { type: "approve", args: {} })],
    [[], decision("main/0.triage/0.write_file", { type: "approve" })],
    [[], decision("main/0.triage", { type: "deny" })],
    [[], decision("main/1.other/0.write_file", { type: "deny" })],
    [["failed"], end("main/0.triage", { error: { error: "x" } })],
    [["failed"], end("main/0.triage", { stopReason: "aborted" })],
    [["cut"], end("main/0.triage", { stopReason: "limit", output: "half" })],
    [["secret"], end("main/0.triage", { output: "⟦secret:TOKEN⟧" })],
  ])("marks %j", (marks, ...between) => expect(marksOf(...between)).toEqual(marks));

  it("marks the same question again, and not another one", () => {
    const facts = ["a", "b", "a"].flatMap((input, index) => [
      start(`main/${index}.triage`, "triage", input),
      end(`main/${index}.triage`),
    ]);
    const calls = recordedCalls({ run: "r", facts, times: facts.map(() => 0) }, "triage");
    expect(calls.map(markRepeated()).map(({ marks }) => marks)).toEqual([[], [], ["repeated"]]);
  });
});
