import type { JsonSchema } from "../../protocol/tool.ts";

export const text: JsonSchema = { type: "string" };
export const flag: JsonSchema = { type: "boolean" };
export const number: JsonSchema = { type: "number" };
export const integer: JsonSchema = { type: "integer" };
export const map: JsonSchema = { type: "object" };
export const texts: JsonSchema = { type: "array", items: text };

export function oneOf(...values: readonly string[]): JsonSchema {
  return { enum: values };
}

/** A map with these members and no others. */
export function members(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/**
 * Variables of a chat template: single values. Some servers also read from here what a request has members for: the template
 * itself, or the tools and messages that it shows to the model.
 */
export const templateVariables: JsonSchema = {
  type: "object",
  propertyNames: { not: { enum: ["chat_template", "tokenize", "add_generation_prompt", "continue_final_message"] } },
  additionalProperties: { type: ["boolean", "number", "string", "null"] },
};

/** What to write instead of an option of any provider. */
export const instead = {
  setting: (name: string) => `write \`model_settings.${name}\``,
  tool: "tools that the provider executes are enabled by `server_side_tools`",
  tools: "tools are given to a worker by `toolsets`",
  output: "the form of the answer is the worker's `output`",
  model: "the model is named by `model`",
  stored: "nothing is stored at the provider: each request holds the whole conversation",
  address: "a server with an address of its own is declared under `providers` of `llm-do.yaml`",
  text: "what the model reads is the worker's instructions and its input",
  streaming: "llm-do streams where somebody watches",
} as const;
