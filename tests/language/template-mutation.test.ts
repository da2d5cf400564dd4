import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { renderDiagnostic } from "../../src/diagnostics/render-diagnostic.ts";
import type { Source } from "../../src/diagnostics/source.ts";
import { templateLimits } from "../../src/language/template/engine.ts";
import { type ParsedTemplate, parseTemplate, TemplateError } from "../../src/language/template.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { JsonSchema } from "../../src/protocol/tool.ts";
import { mutatedTexts, numRuns, timeLimit } from "./mutate.ts";
import { templateFolder } from "./template-cases.ts";
import { spansIn } from "./tree.ts";

const samples = readdirSync(templateFolder).map((name) => readFileSync(join(templateFolder, name, "input.worker"), "utf8"));
const bodies = samples.map((text) => Buffer.from(text.slice(text.indexOf("---", 3) + 4)));
const files: Readonly<Record<string, string>> = {
  "a.md": "{{ company }}{{ x }}",
  "rubric.md": "{% render 'a.md', x: company %}",
};

const variables: JsonSchema = {
  type: "object",
  properties: {
    company: { type: "string" },
    notes: { type: "string" },
    n: { type: "number" },
    list: { type: "array", items: { type: "string" } },
    people: { type: "array", items: { type: "object", properties: { name: {}, role: {} }, additionalProperties: false } },
    open: {},
  },
};

async function parse(text: string): Promise<ParsedTemplate> {
  const source: Source = { name: "a.md", text };
  const readInclude = async (path: string): Promise<Source | undefined> =>
    files[path] === undefined ? undefined : { name: path, text: files[path] };
  return parseTemplate({ value: text, span: { source, start: 0, end: text.length } }, { variables, readInclude });
}

const code = fc.constantFrom("{{ notes }}", "{% raw %}", "{% endraw %}", "{% if", "%}", "}}", "$&", "$1", "\\", "\r\n", "\u0000");
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.oneof(code, fc.string())).map((parts) => parts.join("")),
);
const values: fc.Arbitrary<JsonObject> = fc.record(
  {
    company: anyText,
    notes: anyText,
    n: fc.oneof(fc.double(), fc.constantFrom(0, -1, 1e9, 1e308)),
    list: fc.array(anyText),
    people: fc.array(fc.record({ name: anyText, role: anyText }, { requiredKeys: [] })),
    open: fc.jsonValue() as fc.Arbitrary<JsonObject>,
  },
  { requiredKeys: [] },
);

const leaves = [
  "{{ company }}",
  "{{ open.a | default: notes }}",
  "{{ open.a }}",
  "{{ company | append: company | upcase | truncate: n }}",
  "{% assign notes = notes | append: company | split: company | join: notes %}",
  "{% render 'rubric.md' %}",
  "{{ n | times: n | round: n | slice: n, n }}",
  "{{ list | sort | uniq | join: company }}{{ people | map: 'name' | json: n }}",
  "{{ people | where: 'role', company | group_by: 'name' }}",
  "{{ notes | replace: company, notes | divided_by: n }}",
  " text\n",
];
const blocks: readonly (readonly [string, string])[] = [
  ["{% if notes contains company %}", "{% elsif n > 1 %}x{% else %}y{% endif %}"],
  ["{% unless list == empty -%}", "{%- endunless %}"],
  ["{% for x in list limit: n %}{{ forloop.index }}{{ x }}", "{% else %}none{% endfor %}"],
  ["{% for p in people reversed %}{{ p.name }}", "{% break %}{% endfor %}"],
  ["{% for i in (1..n) %}", "{{ i }}{% endfor %}"],
  ["{% capture notes %}", "{% endcapture %}"],
  ["{% case n %}{% when 1, 2 %}", "{% endcase %}"],
  ["{% raw %}", "{% endraw %}"],
  ["{% comment %}", "{% endcomment %}"],
];
const composed = fc.array(fc.constantFrom(...leaves, ...blocks.flat()), { maxLength: 14 }).map((parts) => parts.join(""));

/** Templates whose blocks are closed. */
const { whole } = fc.letrec<{ whole: string; part: string }>((tie) => ({
  whole: fc.array(tie("part"), { maxLength: 5 }).map((parts) => parts.join("")),
  part: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...leaves),
    fc.tuple(fc.constantFrom(...blocks), tie("whole")).map(([[opening, closing], inner]) => `${opening}${inner}${closing}`),
  ),
}));

test(
  "no template makes the checks throw, and every mistake has a place",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutatedTexts(bodies), composed, whole, anyText), async (text) => {
        const { template, diagnostics } = await parse(text);
        expect(template === undefined).toBe(diagnostics.some(({ severity }) => severity === "error"));
        for (const diagnostic of diagnostics) {
          expect(diagnostic.code === "too-many-diagnostics" || diagnostic.span !== undefined).toBe(true);
          expect(renderDiagnostic(diagnostic)).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
        }
        for (const span of spansIn(diagnostics)) {
          expect(0 <= span.start && span.start <= span.end && span.end <= span.source.text.length).toBe(true);
        }
      }),
      { numRuns, seed: 3 },
    );
  },
  timeLimit,
);

test(
  "whatever the values, rendering ends within its limits, as a text or in its own error",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutatedTexts(bodies), whole), values, async (text, input) => {
        const { template } = await parse(text);
        if (template === undefined) return;
        const started = performance.now();
        try {
          expect(template.render(input).length).toBeLessThanOrEqual(templateLimits.memory);
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
        expect(performance.now() - started).toBeLessThan(templateLimits.milliseconds * 60);
      }),
      { numRuns, seed: 4 },
    );
  },
  timeLimit,
);

test(
  "a value is printed as it is, whatever it looks like",
  async () => {
    const { template } = await parse(
      "<{{ company }}|{{ list[0] }}|{% render 'a.md', x: notes %}|{% capture c %}{{ notes }}{% endcapture %}{{ c }}>",
    );
    fc.assert(
      fc.property(anyText, anyText, anyText, (company, item, notes) => {
        expect(template?.render({ company, list: [item], notes })).toBe(`<${company}|${item}|${company}${notes}|${notes}>`);
      }),
      { numRuns, seed: 5 },
    );
  },
  timeLimit,
);

test(
  "text without braces around a place stays as it is",
  async () => {
    const plain = fc.string({ unit: "binary" }).filter((text) => !/[{%]/.test(text));
    await fc.assert(
      fc.asyncProperty(plain, plain, async (before, after) => {
        const { template } = await parse(`${before}{{ n }}${after}`);
        expect(template?.render({ n: 1 })).toBe(`${before}1${after}`);
      }),
      { numRuns: Math.min(numRuns, 20_000), seed: 6 },
    );
  },
  timeLimit,
);
