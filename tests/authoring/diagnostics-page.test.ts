import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderDiagnosticsPage } from "../../scripts/make-diagnostics-docs.ts";
import { catalogue } from "../../src/diagnostics/catalogue.ts";

test("docs/diagnostics.md is what is made of the catalogue and the samples", { timeout: 30_000 }, async () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/diagnostics.md"), "utf8").replaceAll("\r\n", "\n");
  expect(page, "out of date: run node scripts/make-diagnostics-docs.ts").toBe(await renderDiagnosticsPage());
  for (const code of Object.keys(catalogue)) expect(page).toContain(`\n## ${code}\n`);
});
