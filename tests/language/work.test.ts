import { expect, test } from "vitest";
import { parseWorkerFile } from "../../src/language/parse-worker-file.ts";

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
  const started = performance.now();
  const { diagnostics } = parseWorkerFile({ name: "long.worker", text: `---\n${frontmatter}\n---\nHi` });
  expect(diagnostics.length).toBeLessThanOrEqual(101);
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("a long body costs nothing but its length", () => {
  const body = "---\n {{ a: [".repeat(1_000_000);
  const { file, diagnostics } = parseWorkerFile({ name: "long.worker", text: `---\n---\n${body}` });
  expect(diagnostics).toEqual([]);
  expect(file?.instructions.value.length).toBe(body.length);
});
