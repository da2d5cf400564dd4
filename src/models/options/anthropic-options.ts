import type { OptionRules } from "./option-rules.ts";
import { flag, instead, integer, members, oneOf, text, texts } from "./option-schemas.ts";

const thinking = members(
  {
    type: oneOf("adaptive", "enabled", "disabled", "between_tools"),
    budgetTokens: integer,
    display: oneOf("omitted", "summarized", "updates"),
  },
  ["type"],
);

/** In the names of the library, which are Anthropic's own in camel case. */
export const anthropicOptions: OptionRules = {
  allowed: {
    thinking,
    effort: oneOf("low", "medium", "high", "xhigh", "max"),
    cacheControl: members({ type: oneOf("ephemeral"), ttl: oneOf("5m", "1h") }, ["type"]),
    sendReasoning: flag,
    disableParallelToolUse: flag,
    structuredOutputMode: oneOf("outputFormat", "jsonTool", "auto"),
    toolStreaming: flag,
    serviceTier: oneOf("auto", "standard_only"),
    speed: oneOf("fast", "standard"),
    inferenceGeo: oneOf("us", "global"),
    taskBudget: members({ type: oneOf("tokens"), total: integer, remaining: integer }, ["type", "total"]),
    metadata: members({ userId: text }),
    anthropicBeta: texts,
  },
  refused: {
    mcpServers: instead.tools,
    container: instead.tool,
    tools: instead.tools,
    toolChoice: instead.tools,
    thread: instead.stored,
    fallbacks: instead.model,
    model: instead.model,
    reasoning: instead.setting("reasoning"),
    temperature: instead.setting("temperature"),
    topP: instead.setting("top_p"),
    maxTokens: instead.setting("max_output_tokens"),
    max_tokens: instead.setting("max_output_tokens"),
    baseURL: instead.address,
    headers: instead.address,
  },
};
