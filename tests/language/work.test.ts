import { expect, test, vi } from "vitest";
import { parseWorkerFile } from "../../src/language/parse-worker-file.ts";
import { parseTemplate } from "../../src/language/template.ts";

// Work out of proportion shows as a test that does not end: the time a machine takes is no test.
vi.setConfig({ testTimeout: 120_000 });

/** As long as frontmatter may be; each of these has been the undoing of some YAML reader. */
const length = 60_000;
const long = (unit: string): string => unit.repeat(length / unit.length);

const texts: Readonly<Record<string, string>> = {
  "open brackets": long("["),
  "open braces": long("{a: "),
  "nested lists": long("- "),
  "colons in a row": long("a: b: "),
  "colons between braces": `a: {${long("b: c: ")}}`,
  "one key many times": long("a: 1\n"),
  "many unknown keys": Array.from({ length: length / 8 }, (_, index) => `k${index}: 1\n`).join(""),
  "near misses of a key": Array.from({ length: length / 12 }, (_, index) => `limi${index}: 1\n`).join(""),
  quotes: long('"'),
  "closing braces": long("}"),
  "broken entries": Array.from({ length: length / 100 }, () => `a: ${'"'.repeat(90)}\n`).join(""),
  anchors: long("&a "),
  aliases: `x-a: &a 1\nx-b: [${long("*a,")}]`,
  "doubling aliases": Array.from({ length: 60 }, (_, index) => `x-${index}: &a${index} [*a${index - 1}, *a${index - 1}]\n`).join(
    "",
  ),
  "tabs and spaces": long("\t "),
  "comment signs": `description: a ${long("#")}`,
  "a long text with commas": `compatible_models: ${long("a,")}`,
  "fields of a schema": `output:\n${long("  a(array, b): c\n")}`,
  "one long key": `${long("k")}: 1`,
  "carriage returns": long("\r"),
};

test.each(Object.entries(texts))("%s are read in time", (_, frontmatter) => {
  const { diagnostics } = parseWorkerFile({ name: "long.worker", text: `---\n${frontmatter}\n---\nHi` });
  expect(diagnostics.length).toBeLessThanOrEqual(101);
});

test("a long body costs nothing but its length", () => {
  const body = "---\n {{ a: [".repeat(1_000_000);
  const { file, diagnostics } = parseWorkerFile({ name: "long.worker", text: `---\n---\n${body}` });
  expect(diagnostics).toEqual([]);
  expect(file?.instructions.value.length).toBe(body.length);
});

const places = (unit: string, length = 190_000): string => unit.repeat(Math.floor(length / unit.length));
const templates: Readonly<Record<string, string>> = {
  "open outputs": places("{{ "),
  "open tags": places("{% "),
  "empty outputs": "{{ }}".repeat(9_000),
  "empty tags": "{%%}".repeat(9_000),
  "unknown variables": "{{ nothing }}".repeat(9_000),
  "good outputs": "{{ input }}".repeat(9_000),
  "open blocks": "{% if input %}".repeat(9_000),
  "closed blocks": "{% if input %}{% endif %}".repeat(4_900),
  "ends of nothing": "{% endif %}".repeat(9_000),
  "raw without an end": `{% raw %}${"{% endraw ".repeat(9_000)}`,
  "a long expression": `{{ ${places("input == ")} }}`,
  "a long path": `{{ input${places(".a")} }}`,
  "expressions of the longest size": `{{ input${".size".repeat(390)} }}`.repeat(90),
  "brackets in one another": `{{ ${"input[".repeat(330)} }}`.repeat(90),
  "many filters": `{{ input${" | upcase".repeat(210)} }}`.repeat(90),
  "many arguments": `{{ input | append: ${"input, ".repeat(280)} }}`.repeat(90),
  "many values": `{% case input %}${`{% when ${'"a", '.repeat(380)}"b" %}`.repeat(90)}{% endcase %}`,
  quotes: `{{ ${places('"')} }}`,
  "much text": `${places("a\n", 180_000)}{{ input }}`,
  assignments: Array.from({ length: 9_000 }, (_, index) => `{% assign a${index} = 1 %}`).join(""),
};

test.each(Object.entries(templates))(
  "templates: %s are checked in time",
  async (_, text) => {
    const { diagnostics, template } = await parseTemplate(
      { value: text, span: { source: { name: "long.worker", text }, start: 0, end: text.length } },
      { variables: { type: "object", properties: { input: { type: "string" } } }, readInclude: async () => undefined },
    );
    expect(diagnostics.length).toBeLessThanOrEqual(101);
    if (template) expect(() => template.render({ input: "x" })).not.toThrow();
  },
  20_000,
);
