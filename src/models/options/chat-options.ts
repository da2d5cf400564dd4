import type { OptionRules } from "./option-rules.ts";
import { flag, instead, integer, map, members, number, oneOf, templateVariables, text, texts } from "./option-schemas.ts";

const stop = { type: ["string", "array"] };

/** Members of the request body that servers with OpenAI's chat completions commonly take, under their names on the wire. */
export const chatOptions: OptionRules = {
  allowed: {
    user: text,
    metadata: map,
    stop,
    top_k: integer,
    top_a: number,
    min_p: number,
    typical_p: number,
    repetition_penalty: number,
    frequency_penalty: number,
    presence_penalty: number,
    logit_bias: map,
    reasoning_effort: text,
    reasoning: map,
    reasoning_format: text,
    include_reasoning: flag,
    thinking: map,
    enable_thinking: flag,
    thinking_budget: integer,
    prompt_mode: text,
    verbosity: text,
    chat_template_kwargs: templateVariables,
    parallel_tool_calls: flag,
    service_tier: text,
    prompt_cache_key: text,
    safety_identifier: text,
    safe_prompt: flag,
    cache_prompt: flag,
    priority: integer,
    strictJsonSchema: flag,
  },
  refused: {
    messages: instead.text,
    chat_template: instead.text,
    model: instead.model,
    models: instead.model,
    fallbacks: instead.model,
    tools: instead.tools,
    tool_choice: instead.tools,
    functions: instead.tools,
    function_call: instead.tools,
    plugins: instead.tool,
    web_search_options: instead.tool,
    search_parameters: instead.tool,
    response_format: instead.output,
    guided_json: instead.output,
    stream: instead.streaming,
    stream_options: instead.streaming,
    store: instead.stored,
    preset: instead.stored,
    temperature: instead.setting("temperature"),
    top_p: instead.setting("top_p"),
    seed: instead.setting("seed"),
    max_tokens: instead.setting("max_output_tokens"),
    max_completion_tokens: instead.setting("max_output_tokens"),
    baseURL: instead.address,
    base_url: instead.address,
    headers: instead.address,
  },
};

const hosts = {
  order: texts,
  only: texts,
  ignore: texts,
  quantizations: texts,
  allow_fallbacks: flag,
  require_parameters: flag,
  data_collection: oneOf("allow", "deny"),
  zdr: flag,
  sort: { type: ["string", "object"] },
  max_price: map,
};

/** OpenRouter's own members beside those. Its plug-ins and presets run tools, so they are none of these. */
export const openrouterOptions: OptionRules = {
  allowed: {
    ...chatOptions.allowed,
    provider: members(hosts),
    reasoning: members({ effort: text, max_tokens: integer, exclude: flag, enabled: flag, summary: text }),
    transforms: texts,
    cache_control: members({ type: oneOf("ephemeral"), ttl: oneOf("5m", "1h") }, ["type"]),
    session_id: text,
  },
  refused: { ...chatOptions.refused, route: instead.model },
};
