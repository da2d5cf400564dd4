import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { JsonObject } from "../protocol/json.ts";
import type { JsonSchema, ToolDefinition } from "../protocol/tool.ts";
import type { ModelRequest, ModelSettings } from "./model.ts";
import { isStrictSchema } from "./strict-schema.ts";
import { toPrompt } from "./to-prompt.ts";

export interface CallOptionsFacts {
  readonly optionsKey: string;
  readonly defaults?: JsonObject;
  readonly outputBesideTools: boolean;
}

const convertedTools = new WeakMap<ToolDefinition, LanguageModelV4FunctionTool>();

/** Our request as the library's call. Who asks (worker and call path) is no part of it. */
export function toCallOptions(request: ModelRequest, facts: CallOptionsFacts): LanguageModelV4CallOptions {
  const constrained = request.output !== undefined && (facts.outputBesideTools || request.tools.length === 0);
  const system = request.output && !constrained ? [...request.system, describeOutput(request.output)] : request.system;
  return {
    prompt: toPrompt(system, request.messages),
    ...toSettings(request.settings),
    ...(request.tools.length > 0 ? { tools: request.tools.map(toTool), toolChoice: { type: "auto" } } : {}),
    ...(request.output && constrained ? { responseFormat: { type: "json", schema: request.output as object } } : {}),
    providerOptions: { [facts.optionsKey]: toProviderOptions(request, facts.defaults) },
  };
}

function toSettings(settings: ModelSettings): Omit<LanguageModelV4CallOptions, "prompt"> {
  return {
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.max_output_tokens === undefined ? {} : { maxOutputTokens: settings.max_output_tokens }),
    ...(settings.top_p === undefined ? {} : { topP: settings.top_p }),
    ...(settings.seed === undefined ? {} : { seed: settings.seed }),
    ...(settings.reasoning === undefined ? {} : { reasoning: settings.reasoning }),
  };
}

/** Strictness is asked for only where the schema allows it: with optional members the request would be refused. */
function toProviderOptions(request: ModelRequest, defaults: JsonObject | undefined): Record<string, never> {
  const strictness = request.output && !isStrictSchema(request.output) ? { strictJsonSchema: false } : {};
  return { ...defaults, ...strictness, ...request.settings.provider_options } as Record<string, never>;
}

function toTool(tool: ToolDefinition): LanguageModelV4FunctionTool {
  const known = convertedTools.get(tool);
  if (known) return known;
  const { name, description } = tool;
  // OpenAI refuses an object schema without members.
  const inputSchema = { properties: {}, ...tool.inputSchema } as object;
  const converted: LanguageModelV4FunctionTool = { type: "function", name, description, inputSchema };
  convertedTools.set(tool, converted);
  return converted;
}

function describeOutput(schema: JsonSchema): string {
  return `Give your final answer as JSON alone, without a code fence, that fits this JSON Schema:\n${JSON.stringify(schema)}`;
}
