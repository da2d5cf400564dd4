import type { JsonSchema } from "../../protocol/tool.ts";
import type { OptionRules } from "./option-rules.ts";

const text: JsonSchema = { type: "string" };
const flag: JsonSchema = { type: "boolean" };
const number: JsonSchema = { type: "number" };
const integer: JsonSchema = { type: "integer" };
const map: JsonSchema = { type: "object" };
const texts: JsonSchema = { type: "array", items: text };
const cache = members({ type: oneOf("ephemeral"), ttl: oneOf("5m", "1h") }, ["type"]);

function oneOf(...values: readonly string[]): JsonSchema {
  return { enum: values };
}

/** A map with these members and no others. */
function members(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

function each(schema: JsonSchema, ...names: readonly string[]): OptionRules {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

/** In the names of the library, which are Anthropic's own in camel case. */
export const anthropicOptions: OptionRules = {
  thinking: members(
    {
      type: oneOf("adaptive", "enabled", "disabled", "between_tools"),
      budgetTokens: integer,
      display: oneOf("omitted", "summarized", "updates"),
    },
    ["type"],
  ),
  effort: oneOf("low", "medium", "high", "xhigh", "max"),
  cacheControl: cache,
  structuredOutputMode: oneOf("outputFormat", "jsonTool", "auto"),
  serviceTier: oneOf("auto", "standard_only"),
  speed: oneOf("fast", "standard"),
  inferenceGeo: oneOf("us", "global"),
  taskBudget: members({ type: oneOf("tokens"), total: integer, remaining: integer }, ["type", "total"]),
  metadata: members({ userId: text }),
  anthropicBeta: texts,
  ...each(flag, "sendReasoning", "disableParallelToolUse", "toolStreaming"),
};

/** In the names of the library, which are those of the Responses API in camel case. */
export const openaiOptions: OptionRules = {
  ...each(text, "reasoningEffort", "reasoningSummary", "promptCacheKey", "user", "safetyIdentifier"),
  ...each(flag, "parallelToolCalls", "strictJsonSchema", "passThroughUnsupportedFiles", "forceReasoning"),
  reasoningMode: oneOf("standard", "pro"),
  reasoningContext: oneOf("auto", "current_turn", "all_turns"),
  textVerbosity: oneOf("low", "medium", "high"),
  serviceTier: oneOf("auto", "flex", "priority", "fast", "ultrafast", "default"),
  maxToolCalls: integer,
  promptCacheRetention: oneOf("in_memory", "24h"),
  promptCacheOptions: members({ mode: oneOf("implicit", "explicit"), ttl: oneOf("30m", "12h") }),
  truncation: oneOf("auto", "disabled"),
  systemMessageMode: oneOf("system", "developer"),
  metadata: map,
};

/**
 * Variables of a chat template: single values. Some servers also read from here what a request has members for: the template
 * itself, or the tools and messages that it shows to the model.
 */
const templateVariables: JsonSchema = {
  type: "object",
  propertyNames: { not: { enum: ["chat_template", "tokenize", "add_generation_prompt", "continue_final_message"] } },
  additionalProperties: { type: ["boolean", "number", "string", "null"] },
};

/** Members of the request body that servers with OpenAI's chat completions commonly take, under their names on the wire. */
export const chatOptions: OptionRules = {
  ...each(text, "user", "reasoning_effort", "reasoning_format", "prompt_mode", "verbosity", "service_tier"),
  ...each(text, "prompt_cache_key", "safety_identifier"),
  ...each(integer, "top_k", "thinking_budget", "priority"),
  ...each(number, "top_a", "min_p", "typical_p", "repetition_penalty", "frequency_penalty", "presence_penalty"),
  ...each(flag, "include_reasoning", "enable_thinking", "parallel_tool_calls", "safe_prompt", "cache_prompt", "strictJsonSchema"),
  ...each(map, "metadata", "logit_bias", "reasoning", "thinking"),
  stop: { type: ["string", "array"] },
  chat_template_kwargs: templateVariables,
};

/** Adds OpenRouter's own members. Its plug-ins and presets run tools and are left out. */
export const openrouterOptions: OptionRules = {
  ...chatOptions,
  provider: members({
    ...each(texts, "order", "only", "ignore", "quantizations"),
    ...each(flag, "allow_fallbacks", "require_parameters", "zdr"),
    data_collection: oneOf("allow", "deny"),
    sort: { type: ["string", "object"] },
    max_price: map,
  }),
  reasoning: members({ effort: text, max_tokens: integer, exclude: flag, enabled: flag, summary: text }),
  transforms: texts,
  cache_control: cache,
  session_id: text,
};

/** In the names of the library, as all that follow. */
export const googleOptions: OptionRules = {
  thinkingConfig: members({
    thinkingBudget: number,
    includeThoughts: flag,
    thinkingLevel: oneOf("minimal", "low", "medium", "high"),
  }),
  safetySettings: { type: "array", items: map },
  ...each(flag, "structuredOutputs", "audioTimestamp"),
  ...each(text, "mediaResolution", "serviceTier"),
};

export const mistralOptions: OptionRules = {
  ...each(flag, "safePrompt", "structuredOutputs", "strictJsonSchema", "parallelToolCalls"),
  ...each(integer, "documentImageLimit", "documentPageLimit"),
  ...each(text, "promptCacheKey", "reasoningEffort"),
};

export const groqOptions: OptionRules = {
  ...each(text, "reasoningFormat", "reasoningEffort", "user", "serviceTier"),
  ...each(flag, "parallelToolCalls", "structuredOutputs", "strictJsonSchema"),
};

export const xaiOptions: OptionRules = { ...each(text, "reasoningEffort", "reasoningSummary") };

export const deepseekOptions: OptionRules = {
  thinking: members({ type: oneOf("enabled", "disabled") }),
  ...each(text, "reasoningEffort", "userId"),
  strictJsonSchema: flag,
};

export const bedrockOptions: OptionRules = {
  reasoningConfig: members({
    type: oneOf("enabled", "disabled", "adaptive"),
    budgetTokens: integer,
    maxReasoningEffort: text,
    display: oneOf("omitted", "summarized"),
  }),
  anthropicBeta: texts,
  serviceTier: text,
  cachePoint: members({ type: oneOf("default"), ttl: oneOf("5m", "1h") }, ["type"]),
};

export const cohereOptions: OptionRules = { thinking: members({ type: oneOf("enabled", "disabled"), tokenBudget: integer }) };

/** Hosts of open models, whose packages share OpenAI's chat completions. */
export const hostedOptions: OptionRules = { ...each(text, "user", "reasoningEffort"), strictJsonSchema: flag };

export const perplexityOptions: OptionRules = {
  ...each(texts, "search_domain_filter", "search_language_filter"),
  ...each(text, "search_recency_filter", "search_after_date_filter", "search_before_date_filter", "reasoning_effort"),
  search_mode: oneOf("web", "academic", "sec"),
  disable_search: flag,
};
