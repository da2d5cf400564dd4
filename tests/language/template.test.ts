import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { renderDiagnostic } from "../../src/diagnostics/render-diagnostic.ts";
import type { Source } from "../../src/diagnostics/source.ts";
import { tagNames, templateLimits } from "../../src/language/template/engine.ts";
import { filterArities } from "../../src/language/template/filters.ts";
import { type ParsedTemplate, parseTemplate, TemplateError } from "../../src/language/template.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { JsonSchema } from "../../src/protocol/tool.ts";
import { checkCase, readTemplateCases, renderCase, showPlaced } from "./template-cases.ts";

const cases = readTemplateCases();

describe("samples", () => {
  test.each(cases)("$name", async (one) => {
    const checked = await checkCase(one);
    expect(checked.diagnostics.map(showPlaced).join("")).toBe(one.diagnostics ?? "");
    expect(one.values === undefined).toBe(one.diagnostics !== undefined);
    for (const template of checked.templates) expect(template === undefined && one.diagnostics === undefined).toBe(false);
    if (one.values) expect(renderCase(checked, one.values)).toBe(one.rendered);
  });
});

const variables: JsonSchema = {
  type: "object",
  properties: {
    company: { type: "string" },
    notes: { type: "string" },
    open: {},
    list: { type: "array", items: { type: "string" } },
  },
};

async function parse(text: string, files: Readonly<Record<string, string>> = {}): Promise<ParsedTemplate> {
  const source: Source = { name: "a.md", text };
  const readInclude = async (path: string): Promise<Source | undefined> =>
    files[path] === undefined ? undefined : { name: path, text: files[path] };
  return parseTemplate({ value: text, span: { source, start: 0, end: text.length } }, { variables, readInclude });
}

async function failure(text: string, values: JsonObject = {}): Promise<TemplateError> {
  const { template, diagnostics } = await parse(text);
  expect(diagnostics).toEqual([]);
  try {
    template?.render(values);
  } catch (error) {
    if (error instanceof TemplateError) return error;
  }
  throw new Error("it was rendered");
}

test("a field is used where its value goes into the text, and not where it is only tested", async () => {
  const { template } = await parse("{% if notes %}{% render 'a.md', x: company %}{% endif %}{% for x in list %}{% endfor %}", {
    "a.md": "{{ x }}{% if open %}{% endif %}",
  });
  expect([...(template?.usedVariables ?? [])].sort()).toEqual(["company", "list"]);
  expect(template?.includes).toEqual(["a.md"]);
});

test("a name that is assigned hides the field", async () => {
  const { template } = await parse("{% assign notes = 'x' %}{{ notes }}");
  expect(template?.render({ notes: "y" })).toBe("x");
  expect([...(template?.usedVariables ?? [])]).toEqual([]);
});

test("a value that nothing declares and that is absent is not printed as nothing", async () => {
  const { reason, span, message } = await failure("a\n{{ open.x }}", { open: {} });
  expect([reason, span?.start, span?.end, message]).toEqual([
    "missing-value",
    5,
    11,
    "the template prints `open.x`, which has no value in this call",
  ]);
});

test.each([
  "{% for i in (1..100000000) %}{{ i }}{% endfor %}",
  "{% for i in (1..3000) %}{% for j in (1..3000) %}{{ i }}{% endfor %}{% endfor %}",
  "{% assign s = 'ab' %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}",
  "{% for i in (1..100000) %}{% capture s %}{{ s }}{{ company }}{% endcapture %}{% endfor %}",
  "{% assign s = list %}{% for i in (1..60) %}{% assign s = s | concat: s %}{% endfor %}",
  "{% assign s = company %}{% for i in (1..30) %}{% assign s = s | replace: 'a', s %}{% endfor %}",
])("the limits end %s", async (text) => {
  const error = await failure(text, { company: "aaaaaaaa", list: ["a", "b"] });
  expect(error.reason).toBe("limit");
});

test("a large template is refused before it is cut up", async () => {
  for (const text of [
    "{{ company }}".repeat(templateLimits.places + 1),
    `{{ company }}${"x".repeat(templateLimits.characters)}`,
  ]) {
    const { template, diagnostics } = await parse(text);
    expect([template, diagnostics.map(({ code }) => code)]).toEqual([undefined, ["template-too-large"]]);
  }
});

test("files are counted, and each is read once", async () => {
  const names = Array.from({ length: templateLimits.files + 1 }, (_, index) => `f${index}.md`);
  const files = Object.fromEntries(names.map((name) => [name, "x"]));
  const { diagnostics } = await parse(names.map((name) => `{% render '${name}' %}`).join(""), files);
  expect(diagnostics.map(({ code }) => code)).toEqual(["template-too-large"]);
});

test("files that render one another twice take as long as there are files", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`f${index}`, `{% render "f${index + 1}" %}{% render "f${index + 1}" %}`]),
  );
  const { template, diagnostics } = await parse('{% render "f0" %}', { ...files, f60: "" });
  expect(diagnostics).toEqual([]);
  expect(() => template?.render({})).toThrow(TemplateError);
}, 20_000);

test("how to write braces in prose is said once", async () => {
  const { diagnostics } = await parse("{{ this }} and {{ that }} and {{#x}}");
  const told = diagnostics.map((one) => renderDiagnostic(one)).join("\n");
  expect(diagnostics).toHaveLength(3);
  expect(told.match(/\{% raw %\}/g)).toHaveLength(1);
});

test("without a template the engine is not loaded", () => {
  const script = `
    const { createRequire } = await import("node:module");
    const { parseTemplate } = await import("./src/language/template.ts");
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("liquidjs"));
    const parse = (text) => parseTemplate(
      { value: text, span: { source: { name: "a", text }, start: 0, end: text.length } },
      { variables: undefined, readInclude: async () => undefined });
    await parse("plain { text } %}");
    const before = loaded();
    await parse("{{ x }}");
    process.stdout.write(before + " " + loaded());`;
  const root = join(import.meta.dirname, "../..");
  expect(execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root, encoding: "utf8" })).toBe(
    "false true",
  );
});

test("every filter and every tag is documented, and no other", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/worker-format.md"), "utf8");
  const section = text.slice(text.indexOf("### Filters"), text.indexOf("### Bounds"));
  const rows = section.split("\n").filter((line) => /^\| (text|numbers|lists|anything) /.test(line));
  const named = new Set(rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)));
  expect([...named].sort()).toEqual(Object.keys(filterArities).sort());
  for (const tag of tagNames) expect(text.includes(`{% ${tag}`) || text.includes(`\`${tag}\``), tag).toBe(true);
});
