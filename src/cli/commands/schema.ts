import { renderEditorSchema, type SchemaName } from "../editor-schemas.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeResult } from "../output.ts";

/** `llm-do schema [worker|manifest]`: the JSON Schema for editors. */
export async function schemaCommand(name: SchemaName): Promise<number> {
  await writeResult(renderEditorSchema(name));
  return exitCodes.done;
}
