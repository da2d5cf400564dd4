import { expect, test } from "vitest";
import type { Fact } from "../protocol/fact.ts";
import { markStops } from "./mark-stops.ts";

const start = (onDenied: "return" | "stop") => ({ type: "run-start", onDenied }) as Fact;
const decision = (key: string, type: "approve" | "deny" | "stop", more: object = {}) =>
  ({
    type: "decision",
    callPath: "main",
    key,
    decision: { type },
    ...(type === "approve" ? {} : { denied: {} }),
    ...more,
  }) as Fact;
const end = { type: "run-end", stopReason: "denied" } as Fact;
const marked = (facts: readonly Fact[]) =>
  markStops(facts).flatMap((fact) => (fact.type === "decision" && fact.stops ? [fact.key] : []));

test.each<[string, readonly Fact[], readonly string[]]>([
  ["a stop", [start("return"), decision("1", "deny"), decision("2", "stop"), end], ["2"]],
  ["the first denial where the policy stops for one", [start("stop"), decision("1", "deny"), decision("2", "deny"), end], ["1"]],
  ["no denial where it does not", [start("return"), decision("1", "deny"), end], []],
  ["no denial of a run that ended otherwise", [start("stop"), decision("1", "deny")], []],
  ["no declined question of a server", [start("stop"), decision("1", "deny", { denied: undefined }), end], []],
  [
    "the denial of the attempt that stops for one",
    [start("return"), decision("1", "deny"), { type: "attempt", onDenied: "stop" } as Fact, decision("2", "deny"), end],
    ["2"],
  ],
  [
    "nothing where decisions say so themselves",
    [start("stop"), decision("1", "deny"), decision("2", "deny", { stops: true }), end],
    ["2"],
  ],
])("marks %s in an older journal", (_, facts, expected) => {
  expect(marked(facts)).toEqual(expected);
});
