// Writes schema/*.schema.json: those that editors read, from the tables of keys; those of events and results, from their types. `--check` writes nothing, and says what is not
// as it would be written.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { renderEditorSchema, schemaNames } from "../src/cli/programs/editor-schemas.ts";
import { renderDataSchema } from "./data-schemas.ts";

const folder = join(import.meta.dirname, "../schema");
const check = process.argv.includes("--check");

mkdirSync(folder, { recursive: true });
const texts = [
  ...schemaNames.map((name) => [name, renderEditorSchema(name)] as const),
  ...(["event", "result"] as const).map((name) => [name, renderDataSchema(name)] as const),
];
for (const [name, text] of texts) {
  const file = join(folder, `${name}.schema.json`);
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  if (!check) writeFileSync(file, text);
  console.log(`${relative(process.cwd(), file)}: ${check ? "out of date; run node scripts/make-schemas.ts" : "written"}`);
  if (check) process.exitCode = 1;
}
