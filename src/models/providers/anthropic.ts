import type { LanguageModelV4ProviderTool, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import type { ServerTool } from "../../protocol/tool.ts";
import { picturesAndPdf } from "../library/result-files.ts";
import { createLibraryProvider } from "./create-library-provider.ts";

/** Claude models over the Messages API. */
export const anthropicProvider = createLibraryProvider({
  name: "anthropic",
  description: "Claude models (Anthropic)",
  priceTable: "anthropic",
  families: /^claude/i,
  prefix: "ANTHROPIC",
  defaultBaseUrl: "https://api.anthropic.com/v1",
  keyVariables: ["ANTHROPIC_API_KEY"],
  keyRequired: true,
  optionsKey: "anthropic",
  outputBesideTools: true,
  cacheMark: { option: "cacheControl", value: { type: "ephemeral" } },
  attachments: ["image/*", "application/pdf"],
  resultFiles: picturesAndPdf,
  serverTools: {
    web_search: ["max_uses", "allowed_domains", "blocked_domains"],
    web_fetch: ["max_uses", "allowed_domains", "blocked_domains"],
    code_execution: [],
  },
  freeTools: ["web_fetch"],
  toServerTool,
  carry: carryContainer,
  loadOptionRules: async () => (await import("../options/provider-options.ts")).anthropicOptions,
  loadRepair: async () => (await import("../wire/anthropic-repair.ts")).anthropicRepair,
  async load({ name, baseURL, apiKey = "", fetch }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const provider = createAnthropic({ baseURL: withVersion(baseURL), apiKey, fetch });
    return {
      model: provider(name),
      download: async (message, signal) => {
        const { downloadFromAnthropic } = await import("./anthropic-files.ts");
        return downloadFromAnthropic(provider.files(), message, signal);
      },
    };
  },
});

/**
 * The newest versions that all current models take. Later ones of the web tools let the model run code on what they find:
 * that would be `code_execution`, which nobody allowed with them.
 */
const toolIds = {
  web_search: "anthropic.web_search_20250305",
  web_fetch: "anthropic.web_fetch_20250910",
  code_execution: "anthropic.code_execution_20250825",
} as const;

function toServerTool(tool: ServerTool): LanguageModelV4ProviderTool {
  const { type, max_uses: maxUses, allowed_domains: allowedDomains, blocked_domains: blockedDomains } = tool;
  if (type === "image_generation") throw new Error("invariant: Anthropic has no tool for pictures");
  return { type: "provider", id: toolIds[type], name: type, args: { maxUses, allowedDomains, blockedDomains } };
}

/** Keeps the container for later turns, with the files that code has left there. */
function carryContainer({ anthropic }: SharedV4ProviderMetadata): JsonObject | undefined {
  const container = anthropic?.["container"];
  return isRecord(container) && typeof container["id"] === "string" ? { container: { id: container["id"] } } : undefined;
}

/** Anthropic's own library and tools read ANTHROPIC_BASE_URL without the version. */
function withVersion(baseUrl: string): string {
  const bare = baseUrl.replace(/\/+$/, "");
  return /\/v\d+$/.test(bare) ? bare : `${bare}/v1`;
}
