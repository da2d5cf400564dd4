import { expect, test } from "vitest";
import { catalogue } from "./catalogue.ts";
import type { CatalogueEntry } from "./catalogue-entry.ts";
import { compileCodes } from "./codes/compile-codes.ts";
import { generalCodes } from "./codes/general-codes.ts";
import { languageCodes } from "./codes/language-codes.ts";
import { moduleCodes } from "./codes/module-codes.ts";

test.each(Object.entries<CatalogueEntry>(catalogue))("%s is explained", (code, { title, explanation }) => {
  expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
  expect(title).not.toMatch(/\.$/);
  expect(explanation).toMatch(/\.$/);
});

test("no two rooms raise the same code", () => {
  const codes = [languageCodes, compileCodes, moduleCodes, generalCodes].flatMap((table) => Object.keys(table));
  expect(new Set(codes).size).toBe(codes.length);
});
