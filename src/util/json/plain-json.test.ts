import { expect, test } from "vitest";
import { copyJson, frozenJson } from "./plain-json.ts";

const nested = (levels: number): unknown => (levels === 0 ? "deep" : [nested(levels - 1)]);

test.each<[string, unknown]>([
  ["plain data", { a: [1, "x", null, true, { b: {} }], text: "⟦\ud800" }],
  ["what JSON leaves out", { a: undefined, f: () => 1, s: Symbol("s"), kept: 1 }],
  ["what JSON makes null", [undefined, Number.NaN, Number.POSITIVE_INFINITY, () => 1, new Array(2)]],
  ["a zero below zero", [-0]],
  ["forms of their own", { date: new Date(0), own: { toJSON: () => "own" }, named: { toJSON: 1 } }],
  ["instances of classes", { map: new Map([[1, 2]]), url: new URL("https://a.example"), boxed: Object("text") }],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
  ["a member named __proto__", JSON.parse('{"__proto__":{"polluted":1},"a":2}')],
  ["deep data", nested(1000)],
])("copies %s as JSON does", (_what, value) => {
  const expected: unknown = JSON.parse(JSON.stringify(value));
  const copies = [copyJson(value), frozenJson(value)];
  for (const copy of copies) {
    expect(copy).toStrictEqual(expected);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(expected));
  }
});

test("shares no object with what it copies, and freezes each on request", () => {
  const value = { list: [{ a: 1 }] };
  const copy = copyJson(value);
  value.list.push({ a: 2 });
  expect(copy).toEqual({ list: [{ a: 1 }] });
  const frozen = frozenJson(value);
  expect([frozen, frozen.list, ...frozen.list].every(Object.isFrozen)).toBe(true);
});

test("throws for a cycle and for a bigint", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  expect(() => copyJson(cycle)).toThrow(TypeError);
  expect(() => copyJson({ big: 1n })).toThrow(TypeError);
});
