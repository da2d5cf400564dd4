import { isRecord } from "../protocol/json.ts";
import { getOwn } from "../util/get-own.ts";
import type { ModelSettings } from "./model.ts";

/** Returns the service tier that the settings ask a model's provider for. */
export function askedTier(modelId: string, { provider_options: all = {} }: ModelSettings): string | undefined {
  const own = getOwn(all, modelId.slice(0, modelId.indexOf(":")));
  const tier = isRecord(own) ? (own["serviceTier"] ?? own["service_tier"]) : undefined;
  return typeof tier === "string" ? tier : undefined;
}
