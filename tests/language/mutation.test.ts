import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { renderDiagnostic } from "../../src/diagnostics/render-diagnostic.ts";
import { parseWorkerFile } from "../../src/language/parse-worker-file.ts";
import { printWorkerFile } from "../../src/language/print-worker-file.ts";
import { mutatedTexts, numRuns, timeLimit } from "./mutate.ts";
import { spansIn, withoutPlaces } from "./tree.ts";

const folder = join(import.meta.dirname, "samples");
const mutated = mutatedTexts(readdirSync(folder).map((name) => readFileSync(join(folder, name, "input.worker"))));

test(
  "no text makes the parser throw, and every diagnostic has a place in the text",
  () => {
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
  },
  timeLimit,
);

test(
  "what is read without errors is the same after printing and reading again",
  () => {
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
  },
  timeLimit,
);
