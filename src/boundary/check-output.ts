import type { JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { fromJsonSchema } from "../schema/from-json-schema.ts";
import { renderIssues } from "../schema/schema.ts";

/** Returns why a value is no output of a worker; undefined if it fits. Without a schema the output is text. */
export async function findMisfit(value: JsonValue, output: JsonSchema | undefined): Promise<string | undefined> {
  if (!output) return typeof value === "string" ? undefined : "the worker answers with a text";
  const checked = await fromJsonSchema(output).validate(value);
  return checked.ok ? undefined : renderIssues(checked.issues);
}
