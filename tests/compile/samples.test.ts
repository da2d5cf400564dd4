import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compileSample, readIfThere, type SampleOptions, showDiagnostic, summarize } from "./sample.ts";

/**
 * One folder a case: a program as it lies on disk, `options.json` where the request is not the plain one, and what comes
 * of it: `expected.txt` with a line for each diagnostic (code, place, severity), `summary.json` with what is linked.
 * `UPDATE_SAMPLES=1` writes both; read the difference before you keep it.
 */
const folder = join(import.meta.dirname, "samples");
const update = process.env["UPDATE_SAMPLES"] === "1";
const cases = readdirSync(folder).map((name) => {
  const read = (file: string): string | undefined => readIfThere(join(folder, name, file));
  const options = JSON.parse(read("options.json") ?? "{}") as SampleOptions;
  return { name, options, expected: read("expected.txt") ?? "", summary: read("summary.json") };
});

describe("samples", () => {
  test.each(cases)("$name", async ({ name, options, expected, summary }) => {
    const { diagnostics, program } = await compileSample(join(folder, name), options);
    const shown = diagnostics.map(showDiagnostic).join("");
    const linked = program && JSON.parse(JSON.stringify(summarize(program)));
    if (update) writeSample(name, { shown, linked });
    else {
      expect(shown).toBe(expected);
      expect(linked).toEqual(summary === undefined ? undefined : JSON.parse(summary));
    }
    for (const { span } of diagnostics) {
      if (!span) continue;
      expect(span.start).toBeGreaterThanOrEqual(0);
      expect(span.end).toBeGreaterThanOrEqual(span.start);
      expect(span.end).toBeLessThanOrEqual(span.source.text.length);
    }
  });
});

function writeSample(name: string, { shown, linked }: { shown: string; linked: unknown }): void {
  const write = (file: string, text: string): void => {
    const path = join(folder, name, file);
    if (text === "") rmSync(path, { force: true });
    else writeFileSync(path, text);
  };
  write("expected.txt", shown);
  write("summary.json", linked === undefined ? "" : `${JSON.stringify(linked, undefined, 2)}\n`);
}
