import { expect, test } from "vitest";
import type { Fact } from "../protocol/fact.ts";
import { factsBefore } from "./fork-point.ts";

const fact = (type: string, callPath: string, key?: string) =>
  ({ type, callPath, ...(key === undefined ? {} : { key }) }) as unknown as Fact;

const recorded = [
  { type: "run-start", entry: "main" } as unknown as Fact,
  fact("call-start", "main"),
  fact("result", "main", "model 1.1"),
  fact("call-start", "main/0.a"),
  fact("intent", "main/0.a", "model 1.1"),
  fact("result", "main/0.a", "model 1.1"),
  fact("result", "main/0.a/0.note", "tool"),
  fact("call-start", "main/1.b"),
  fact("result", "main/1.b/0.note", "tool"),
];

test("shares what a resumed run did beside the call that it stopped in, and a chosen fork only what had begun", () => {
  const at = { callPath: "main/0.a", turn: 1 };
  expect(factsBefore(recorded, at)).toEqual(recorded.slice(0, 4));
  expect(factsBefore(recorded, { ...at, isStop: true })).toEqual([...recorded.slice(0, 4), ...recorded.slice(7)]);
});
