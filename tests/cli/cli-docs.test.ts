import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { renderCliPage } from "../../scripts/make-cli-docs.ts";

it("docs/cli.md is what scripts/make-cli-docs.ts makes of the grammar", () => {
  expect(readFileSync(join(import.meta.dirname, "../../docs/cli.md"), "utf8")).toBe(renderCliPage());
});
