import type { Attributes } from "@opentelemetry/api";
import type { Usage } from "../protocol/usage.ts";

/*
 * Names of OpenTelemetry's semantic conventions for generative AI (version 1.45), which are in development: the package of the conventions
 * exports them below `incubating`, and asks libraries to copy what they use.
 */

/** Well-known values of `gen_ai.provider.name`. A provider of another name keeps its own. */
const providers: Readonly<Record<string, string>> = {
  google: "gcp.gen_ai",
  "google-vertex": "gcp.vertex_ai",
  "amazon-bedrock": "aws.bedrock",
  bedrock: "aws.bedrock",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  xai: "x_ai",
};

/** `model`: `provider:name`. */
export function modelAttributes(model: string): Attributes {
  const split = model.indexOf(":");
  const provider = model.slice(0, Math.max(0, split));
  const name = model.slice(split + 1);
  // A script that plays a model has a path of this machine.
  const shown = provider === "scripted" ? name.split(/[\\/]/).at(-1) : name;
  return { "gen_ai.provider.name": providers[provider] ?? provider, "gen_ai.request.model": shown };
}

export function usageAttributes(usage: Usage): Attributes {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens, usd } = usage;
  return {
    "gen_ai.usage.input_tokens": inputTokens,
    "gen_ai.usage.output_tokens": outputTokens,
    ...(cachedInputTokens > 0 ? { "gen_ai.usage.cache_read.input_tokens": cachedInputTokens } : {}),
    ...(cacheWriteTokens ? { "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens } : {}),
    ...(reasoningTokens > 0 ? { "gen_ai.usage.reasoning.output_tokens": reasoningTokens } : {}),
    ...(usd === undefined ? {} : { "llm_do.cost.usd": usd }),
  };
}
