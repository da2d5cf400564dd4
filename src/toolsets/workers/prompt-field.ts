import { isRecord } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";

/** The field that a text without a name fills: `input`, or else the only required string. `fields`: all that there are. */
export function promptField(schema: JsonSchema): { readonly field: string | undefined; readonly fields: readonly string[] } {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const fields = Object.keys(properties);
  const strings = Object.entries(properties).filter(([, property]) => isRecord(property) && property["type"] === "string");
  if (strings.some(([name]) => name === "input")) return { field: "input", fields };
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const [only, ...others] = strings.filter(([name]) => required.includes(name));
  return { field: only && others.length === 0 ? only[0] : undefined, fields };
}
