import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { toolFailure } from "../toolsets/toolset.ts";
import type { PendingCall } from "./pending-call.ts";

/** The name under which approvers and rules see the texts that code passes beside a worker's input. */
const field = "extra_context";

/** The arguments with the texts beside them. */
export function joinContext(args: JsonValue, texts: readonly string[] | undefined): JsonValue {
  return texts && isRecord(args) ? ({ ...args, [field]: texts } as unknown as JsonObject) : args;
}

/** Takes apart what `joinContext` made, and an approver may have edited. Throws a `ToolFailure` if it cannot be told apart. */
export function splitContext(
  { tool: { name, input: schema }, request: { extraContext } }: PendingCall,
  args: JsonObject,
): { readonly input: JsonObject; readonly texts?: readonly string[] } {
  if (!extraContext) return { input: args };
  const properties = schema.jsonSchema["properties"];
  if (isRecord(properties) && Object.hasOwn(properties, field))
    throw invalid(`\`${name}\` has a field \`${field}\` of its own; pass the texts there, and no \`extraContext\``);
  const { [field]: texts, ...input } = args;
  if (Array.isArray(texts) && texts.length > 0 && texts.every(isText)) return { input, texts };
  throw invalid("`extraContext` has to be a list of texts, none of them empty");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function invalid(error: string) {
  return toolFailure("invalid_arguments", error);
}
