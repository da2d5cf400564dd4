// Writes schema/*.schema.json, which editors read, from the tables of keys. `--check` writes nothing, and says what is not
// as it would be written.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { renderEditorSchema, schemaNames } from "../src/cli/editor-schemas.ts";

const folder = join(import.meta.dirname, "../schema");
const check = process.argv.includes("--check");

mkdirSync(folder, { recursive: true });
for (const name of schemaNames) {
  const file = join(folder, `${name}.schema.json`);
  const text = renderEditorSchema(name);
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  if (!check) writeFileSync(file, text);
  console.log(`${relative(process.cwd(), file)}: ${check ? "out of date; run node scripts/make-schemas.ts" : "written"}`);
  if (check) process.exitCode = 1;
}
