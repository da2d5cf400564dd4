import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { parseWorkerFile } from "../../src/language/parse-worker-file.ts";
import { printWorkerFile } from "../../src/language/print-worker-file.ts";
import { showPosition, spansIn, withoutPlaces, withoutSpans } from "./tree.ts";

/**
 * One folder a case: `input.worker`, and what comes of it. `diagnostics.txt` has a line for each diagnostic (code,
 * line:column, severity), `tree.json` the tree of a file without errors.
 */
const folder = join(import.meta.dirname, "samples");
const cases = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name, "input.worker"), "utf8");
  return { name, text, diagnostics: readExpected(name, "diagnostics.txt"), tree: readExpected(name, "tree.json") };
});

function readExpected(name: string, file: string): string | undefined {
  const path = join(folder, name, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function showDiagnostic({ code, span, severity }: Diagnostic): string {
  return `${code} ${span ? showPosition(span) : "-"} ${severity}\n`;
}

describe("samples", () => {
  test.each(cases)("$name", ({ text, diagnostics, tree }) => {
    const parsed = parseWorkerFile({ name: "input.worker", text });
    expect(parsed.diagnostics.map(showDiagnostic).join("")).toBe(diagnostics ?? "");
    expectPlacesInside(text, parsed);
    const isRefused = parsed.diagnostics.some((diagnostic) => diagnostic.severity === "error");
    expect(isRefused).toBe(tree === undefined);
    if (tree === undefined || parsed.file === undefined) return;
    expect(withoutSpans(parsed.file)).toEqual(JSON.parse(tree));
    const again = parseWorkerFile({ name: "printed.worker", text: printWorkerFile(parsed.file) });
    expect(again.diagnostics).toEqual([]);
    expect(withoutPlaces(again.file)).toEqual(withoutPlaces(parsed.file));
  });
});

function expectPlacesInside(text: string, parsed: unknown): void {
  for (const span of spansIn(parsed)) {
    expect(span.start).toBeGreaterThanOrEqual(0);
    expect(span.end).toBeGreaterThanOrEqual(span.start);
    expect(span.end).toBeLessThanOrEqual(text.length);
  }
}
