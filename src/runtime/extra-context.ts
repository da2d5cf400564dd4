import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { Schema } from "../schema/schema.ts";
import { type CallOptions, toolFailure } from "../toolsets/toolset.ts";

/** How the gate, and whoever it asks, sees the context that code adds to a worker's input: as one more argument. */
const field = "extra_context";

/** The texts that code passes beside an input. Throws a `ToolFailure` where they are none. */
export function readExtraContext(options: CallOptions): readonly string[] {
  const { extraContext = [], ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(`\`call\` has no option \`${unknown}\`; there is \`extraContext\``);
  if (Array.isArray(extraContext) && extraContext.every(isText)) return [...extraContext];
  throw invalid("`extraContext` has to be a list of texts, none of them empty");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** The input of a worker that takes such texts as well. Throws a `ToolFailure` where it has a field of that name itself. */
export function withExtraContext(name: string, schema: Schema): Schema {
  const { jsonSchema } = schema;
  const properties = isRecord(jsonSchema["properties"]) ? (jsonSchema["properties"] as JsonObject) : {};
  if (Object.hasOwn(properties, field))
    throw invalid(`\`${name}\` has a field \`${field}\` of its own; pass the texts there, and no \`extraContext\``);
  const texts = { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 };
  return {
    jsonSchema: { ...jsonSchema, properties: { ...properties, [field]: texts } },
    validate: async (value) => {
      const { input, texts: added } = splitExtraContext(value as JsonObject);
      if (!Array.isArray(added) || added.length === 0 || !added.every(isText))
        return { ok: false, issues: [{ path: [field], message: "has to be a list of texts, none of them empty" }] };
      const checked = await schema.validate(input);
      return checked.ok ? { ok: true, value: joinExtraContext(checked.value as JsonObject, added) } : checked;
    },
  };
}

export function joinExtraContext(input: JsonValue, texts: readonly string[]): JsonValue {
  return texts.length > 0 && isRecord(input) ? ({ ...input, [field]: [...texts] } as JsonObject) : input;
}

export function splitExtraContext(args: JsonObject): { readonly input: JsonObject; readonly texts: JsonValue | undefined } {
  const { [field]: texts, ...input } = args;
  return { input, texts };
}

function invalid(error: string) {
  return toolFailure("invalid_arguments", error);
}
