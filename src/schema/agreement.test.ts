import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { type AgreementOptions, agrees, compareOutputs, freeTexts } from "./agreement.ts";

const triage: JsonSchema = {
  type: "object",
  properties: {
    kind: { type: "string", enum: ["bug", "wish"] },
    urgent: { type: "boolean" },
    score: { type: "integer", "x-agree": { within: 1 } },
    tags: { type: "array", items: { type: "string", maxLength: 20 }, "x-agree": { set: true } },
    steps: { type: "array", items: { type: "string", enum: ["a", "b"] } },
    code: { type: "string", maxLength: 10 },
    summary: { type: "string" },
    inner: { $ref: "#/$defs/inner" },
  },
  $defs: { inner: { type: "object", properties: { share: { type: "number" } } } },
};
const base = {
  ...{ kind: "bug", urgent: true, score: 3, tags: ["x", "y"], steps: ["a", "b"], code: "é1", summary: "It hangs." },
  inner: { share: 0.5 },
};

function differing(change: object, options?: AgreementOptions): string[] {
  const agreement = compareOutputs(triage, { one: base, other: { ...base, ...change } as JsonValue }, options);
  return [...agreement].filter(([, verdict]) => verdict === "different").map(([path]) => path);
}

describe("compareOutputs", () => {
  it.each<[what: string, change: object, paths: string[]]>([
    ["equal values", {}, []],
    ["an enum", { kind: "wish" }, ["kind"]],
    ["a boolean", { urgent: false }, ["urgent"]],
    ["a number within its bound", { score: 4 }, []],
    ["a number beyond it", { score: 5 }, ["score"]],
    ["a set in another order", { tags: ["y", "x", "x"] }, []],
    ["a set with another member", { tags: ["x"] }, ["tags"]],
    ["a list in another order", { steps: ["b", "a"] }, ["steps"]],
    ["a short text with blanks and in NFD", { code: " e\u03011 " }, []],
    ["another short text", { code: "e1" }, ["code"]],
    ["free text", { summary: "Something else." }, []],
    ["a field below a reference", { inner: { share: 0.6 } }, ["inner.share"]],
    ["a field that is missing", { kind: undefined }, ["kind"]],
    ["a field of another type", { score: "3" }, ["score"]],
    ["a field that is too many", { more: 1 }, ["more"]],
  ])("tells %s", (_, change, paths) => expect(differing(change)).toEqual(paths));

  it("takes a bound of the caller over that of the schema", () => {
    expect(differing({ score: 5 }, { within: { score: 2 } })).toEqual([]);
    expect(differing({ inner: { share: 0.6 } }, { within: { "inner.share": 0.2 } })).toEqual([]);
  });

  it("says of each field whether it was compared", () => {
    const agreement = compareOutputs(triage, { one: base, other: base });
    expect(Object.fromEntries(agreement)).toMatchObject({
      kind: "same",
      summary: "uncompared",
      tags: "same",
      "inner.share": "same",
    });
    expect([...agreement.keys()]).toHaveLength(8);
  });

  it("compares nothing of a worker without a schema", () => {
    const agreement = compareOutputs(undefined, { one: "a", other: "b" });
    expect([...agreement]).toEqual([["", "uncompared"]]);
    expect(agrees(agreement)).toBeUndefined();
  });

  it("finds every value equal to itself, whatever the schema", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, schema) => {
        const anySchema = (typeof schema === "object" && schema !== null && !Array.isArray(schema) ? schema : {}) as JsonSchema;
        const agreement = compareOutputs(anySchema, { one: value as JsonValue, other: structuredClone(value) as JsonValue });
        expect(agrees(agreement)).not.toBe(false);
        expect(agreement.size).toBeGreaterThan(0);
      }),
      { numRuns: 300 },
    );
  });

  it("is the same in both directions", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const there = compareOutputs(triage, { one: one as JsonValue, other: other as JsonValue });
        const back = compareOutputs(triage, { one: other as JsonValue, other: one as JsonValue });
        expect(agrees(there)).toBe(agrees(back));
      }),
      { numRuns: 300 },
    );
  });
});

describe("freeTexts", () => {
  it("names the fields that only a judge can compare", () => {
    expect(freeTexts(triage)).toEqual(["summary"]);
    expect(freeTexts(undefined)).toEqual([""]);
    expect(freeTexts({ type: "array", items: { type: "object", properties: { note: { type: "string" } } } })).toEqual(["note"]);
  });
});
