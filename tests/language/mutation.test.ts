import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { renderDiagnostic } from "../../src/diagnostics/render-diagnostic.ts";
import { parseWorkerFile } from "../../src/language/parse-worker-file.ts";
import { printWorkerFile } from "../../src/language/print-worker-file.ts";
import { spansIn, withoutPlaces } from "./tree.ts";

const numRuns = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 2000);
const folder = join(import.meta.dirname, "samples");
const samples = readdirSync(folder).map((name) => readFileSync(join(folder, name, "input.worker")));

interface Mutation {
  readonly kind: "delete" | "insert" | "duplicate" | "splice";
  readonly at: number;
  readonly length: number;
  readonly bytes: Uint8Array;
  readonly other: Buffer;
}

const telling = [
  "\n---\n",
  "---",
  ": ",
  " #",
  "\t",
  "{",
  "}",
  "[",
  "]",
  '"',
  "'",
  "*",
  "&a ",
  "*a",
  "<<: ",
  "!!js ",
  "- ",
  "| ",
  "?",
  "%",
  "\r",
  "\u0000",
  "${",
  "\ufeff",
];

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom("delete", "insert", "duplicate", "splice"),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 40 }),
  bytes: fc.oneof(
    fc.constantFrom(...telling).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 12 }),
  ),
  other: fc.constantFrom(...samples),
});

function mutate(input: Buffer, { kind, at, length, bytes, other }: Mutation): Buffer {
  const start = Math.floor(at * input.length);
  const before = input.subarray(0, start);
  const after = input.subarray(start);
  switch (kind) {
    case "delete":
      return Buffer.concat([before, after.subarray(length)]);
    case "insert":
      return Buffer.concat([before, bytes, after]);
    case "duplicate":
      return Buffer.concat([before, after.subarray(0, length), after]);
    case "splice":
      return Buffer.concat([before, other.subarray(Math.floor(at * other.length))]);
  }
}

const mutated = fc
  .tuple(fc.constantFrom(...samples), fc.array(mutation, { minLength: 1, maxLength: 4 }))
  .map(([sample, mutations]) => mutations.reduce(mutate, sample).toString("utf8"));

test("no text makes the parser throw, and every diagnostic has a place in the text", () => {
  fc.assert(
    fc.property(mutated, (text) => {
      const { file, diagnostics } = parseWorkerFile({ name: "mutated.worker", text });
      for (const diagnostic of diagnostics) {
        expect(diagnostic.code === "too-many-diagnostics" || diagnostic.span !== undefined).toBe(true);
        expect(renderDiagnostic(diagnostic)).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
      }
      for (const span of spansIn([file, diagnostics])) {
        expect(0 <= span.start && span.start <= span.end && span.end <= text.length).toBe(true);
      }
    }),
    { numRuns, seed: 1 },
  );
});

test("what is read without errors is the same after printing and reading again", () => {
  fc.assert(
    fc.property(mutated, (text) => {
      const { file, diagnostics } = parseWorkerFile({ name: "mutated.worker", text });
      if (file === undefined || diagnostics.some((diagnostic) => diagnostic.severity === "error")) return;
      const again = parseWorkerFile({ name: "printed.worker", text: printWorkerFile(file) });
      expect(again.diagnostics).toEqual([]);
      expect(withoutPlaces(again.file)).toEqual(withoutPlaces(file));
    }),
    { numRuns, seed: 2 },
  );
});
