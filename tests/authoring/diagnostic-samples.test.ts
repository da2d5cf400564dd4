import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalogue } from "../../src/diagnostics/catalogue.ts";
import { positionAt } from "../../src/diagnostics/position.ts";
import { parseWorkerFile } from "../../src/language/parse-worker-file.ts";

const tests = join(import.meta.dirname, "..");
const expectations = [
  "compile/samples/*/expected.txt",
  "language/samples/*/diagnostics.txt",
  "language/templates/samples/*/diagnostics.txt",
];

/** Speak of no place: the program itself is not there, and the rest of a long list. */
const withoutPlace = ["target-not-found", "too-many-diagnostics"];

/** Too large to lie among the samples. */
const madeUp: Readonly<Record<string, string>> = { "frontmatter-too-large": `---\n${"x-a: 1\n".repeat(10_000)}---\n` };

/** `code place severity`, a line for each diagnostic of each sample. */
function readLines(): string[] {
  const files = globSync(expectations, { cwd: tests });
  const lines = files.flatMap((file) => readFileSync(join(tests, file), "utf8").split("\n"));
  const made = Object.values(madeUp).flatMap((text) => parseWorkerFile({ name: "made-up.worker", text }).diagnostics);
  return [...lines, ...made.map(({ code, span }) => `${code} ${span ? positionAt(span.source, span.start).line : "-"}`)];
}

test("every code is raised by a sample, at a place", () => {
  const raised = readLines().map((line) => line.split(" "));
  const placed = new Set(raised.flatMap(([code, place]) => (place === "-" ? [] : [code])));
  const all = new Set(raised.map(([code]) => code));
  expect(Object.keys(catalogue).filter((code) => !placed.has(code))).toEqual(withoutPlace);
  expect(withoutPlace.filter((code) => !all.has(code))).toEqual([]);
});

test("every code has an example on its page, but for those that a page has no room for", () => {
  const page = readFileSync(join(tests, "../docs/diagnostics.md"), "utf8").replaceAll("\r\n", "\n");
  const sections = page.split("\n## ").slice(1);
  const without = sections.filter((section) => !section.includes("\n```")).map((section) => section.split("\n")[0]);
  expect(without).toEqual([
    "file-encoding",
    "file-unreadable",
    "frontmatter-too-large",
    "name-not-portable",
    "too-many-diagnostics",
  ]);
});
