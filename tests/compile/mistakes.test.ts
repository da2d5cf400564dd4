import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { renderDiagnostics } from "../../src/diagnostics/render-diagnostic.ts";
import { compile } from "../../src/front/llm-do.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { mistakes } from "./mistakes/index.ts";
import type { Mistake } from "./mistakes/mistake.ts";
import { showDiagnostic } from "./sample.ts";

/*
 * Mistakes that authors make, by where they make them: each row is a program with one mistake, what `check` reports of it, and words
 * that help. Rows without a report are meant: they look like mistakes and are none. Mistakes on the command line are in
 * tests/cli/command-lines.
 */

/** Compiles the files as a program of their own, with trust, and returns what is reported. */
async function check({ files, model }: Mistake) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-mistake-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const host = createNodeHost({ workingDirectory: folder, homeDirectory: join(folder, "home"), environment: {} });
  const { diagnostics } = await compile({ host, trust: true, ...(model === null ? {} : { model: "anthropic:m" }) });
  return { shown: diagnostics.map((one) => showDiagnostic(one).trimEnd()), text: renderDiagnostics(diagnostics) };
}

describe.each(Object.entries(mistakes))("%s", (_, cases) => {
  test.each(Object.entries(cases))("%s", async (_title, mistake) => {
    const { shown, text } = await check(mistake);
    expect(shown, text).toEqual(mistake.reports);
    for (const words of mistake.says) expect(text).toContain(words);
    expect(text).not.toContain(realpathSync(tmpdir()));
  });
});

test("nearly every mistake is reported at its place, with words that help", () => {
  const rows = Object.values(mistakes).flatMap((cases) => Object.values(cases));
  const reported = rows.filter(({ reports }) => reports.length > 0);
  const good = reported.filter(({ reports, says }) => says.length > 0 && reports.every((report) => !report.includes(" - ")));
  expect(rows.length - reported.length).toBeLessThanOrEqual(5);
  expect(good.length / reported.length).toBeGreaterThan(0.95);
});
