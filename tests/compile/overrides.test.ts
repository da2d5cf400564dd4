import fc from "fast-check";
import { expect, test } from "vitest";
import { parseOverride } from "../../src/compile/overrides.ts";
import { DiagnosticList } from "../../src/diagnostics/diagnostic-list.ts";

function parse(text: string) {
  const list = new DiagnosticList();
  const override = parseOverride(text, list.report);
  return { override, diagnostics: list.toArray(), keys: override?.segments.map(({ value }) => value) };
}

test.each<[string, string[], unknown]>([
  ["model=anthropic:m", ["model"], "anthropic:m"],
  ["main.limits.turns=3", ["main", "limits", "turns"], 3],
  [" main . model =x", ["main", "model"], "x"],
  ["a=b=c", ["a"], "b=c"],
  ["a=", ["a"], ""],
  ["a=  ", ["a"], "  "],
  ["a=TRUE", ["a"], true],
  ["a=false", ["a"], false],
  ["a=no", ["a"], "no"],
  ["a=-1.5e3", ["a"], -1500],
  ["a=yes", ["a"], "yes"],
  ["a=None", ["a"], "None"],
  ["a=1_000", ["a"], "1_000"],
  ["a=Infinity", ["a"], "Infinity"],
  ["a=007", ["a"], "007"],
  ["a=NaN", ["a"], "NaN"],
  ['a="3"', ["a"], "3"],
  ["a=null", ["a"], null],
  ["a=[1,2", ["a"], "[1,2"],
  ["a={{ x }}", ["a"], "{{ x }}"],
  ['toolsets["@acme/db:Tools"].url=x', ["toolsets", "@acme/db:Tools", "url"], "x"],
  ["toolsets['a=b.c'].d=x", ["toolsets", "a=b.c", "d"], "x"],
  ['["a\\"b\\\\"]=x', ['a"b\\'], "x"],
  ['a["b"]["c"]=x', ["a", "b", "c"], "x"],
  ["__proto__.constructor=x", ["__proto__", "constructor"], "x"],
])("%s", (text, keys, value) => {
  const { override, diagnostics, keys: found } = parse(text);
  expect(diagnostics).toEqual([]);
  expect(found).toEqual(keys);
  expect(override?.value).toMatchObject({ kind: "scalar", value });
});

test("a key of too many parts is a mistake", () => {
  const { override, diagnostics } = parse(`toolsets.${"x.".repeat(10_000)}y=1`);
  expect(override).toBeUndefined();
  expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([["override-syntax", "a key has at most 100 parts"]]);
});

test("maps and lists know the place of each value", () => {
  const { override } = parse('a={"b": [1, "x"]}');
  const entry = override?.value.kind === "map" ? override.value.entries[0] : undefined;
  expect(entry?.key).toMatchObject({ value: "b", span: { start: 3, end: 6 } });
  expect(entry?.value).toMatchObject({ kind: "list", items: [{ value: 1, span: { start: 9, end: 10 } }, { value: "x" }] });
});

test("whatever is written is read or refused at a place in it, and nothing is thrown", () => {
  const text = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[a.["'\]\\=]{0,12}$/),
    fc.json().map((json) => `a.b=${json}`),
  );
  fc.assert(
    fc.property(text, (written) => {
      const { override, diagnostics } = parse(written);
      for (const { span } of diagnostics) {
        expect(span?.source.text).toBe(written);
        expect(span?.end).toBeLessThanOrEqual(written.length);
      }
      expect(override === undefined).toBe(diagnostics.some(({ code }) => code === "override-syntax"));
    }),
    { numRuns: 2000 },
  );
});
