import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exitCodes } from "../exit-codes.ts";
import { writeResult } from "../output.ts";
import { renderEditorSchema, type SchemaName } from "../programs/editor-schemas.ts";
import { packageFolder } from "../programs/read-pages.ts";

/** `llm-do schema [worker|manifest|event|result]`: those of events and results are in the package. */
export async function schemaCommand(name: SchemaName | "event" | "result"): Promise<number> {
  const isData = name === "event" || name === "result";
  const shipped = () => readFileSync(join(packageFolder(), "schema", `${name}.schema.json`), "utf8");
  await writeResult(isData ? shipped() : renderEditorSchema(name));
  return exitCodes.done;
}
