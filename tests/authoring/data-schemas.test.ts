import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataSchemas, renderDataSchema } from "../../scripts/data-schemas.ts";

const folder = join(import.meta.dirname, "../../schema");

test.each(Object.keys(dataSchemas) as (keyof typeof dataSchemas)[])("the shipped schema is made of the types: %s", (name) => {
  const shipped = readFileSync(join(folder, `${name}.schema.json`), "utf8");
  expect(shipped, "out of date: run node scripts/make-schemas.ts").toBe(renderDataSchema(name));
});
