import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { JsonObject } from "../protocol/json.ts";

/** How a provider is told that the request up to a place is to be kept in its cache. Most providers need no mark. */
export interface CacheMark {
  /** Under the library's own options: of a tool, of a message, and of a whole request. */
  readonly option: string;
  readonly value: JsonObject;
}

type Tools = NonNullable<LanguageModelV4CallOptions["tools"]>;
type Marked = Pick<LanguageModelV4CallOptions, "prompt" | "tools">;

/**
 * Marks at most four places, which is what Anthropic takes: the last tool, the last system part, and, where a conversation is likely
 * to go on, the end of the last request and the end of this one. What the last request has written is then always found. A
 * request without tools is likely to be the only one, and what is written costs more: its end is marked only where `always` is true.
 */
export function markCache({ prompt, tools = [] }: Marked, mark: SharedV4ProviderOptions, always: boolean): Marked {
  const system = prompt.findLastIndex(({ role }) => role === "system");
  const answer = prompt.findLastIndex(({ role }) => role === "assistant");
  const goesOn = always || tools.length > 0 || answer >= 0;
  const places = new Set([system, ...(goesOn ? [answer - 1, prompt.length - 1] : [])]);
  const lastTool = tools.findLastIndex(({ type }) => type === "function");
  return {
    prompt: prompt.map((message, index) => (places.has(index) ? addMark(message, mark) : message)) as LanguageModelV4Prompt,
    ...(tools.length > 0
      ? { tools: tools.map((tool, index) => (index === lastTool ? addMark(tool, mark) : tool)) as Tools }
      : {}),
  };
}

function addMark<T extends object>(
  value: T & { readonly providerOptions?: SharedV4ProviderOptions },
  mark: SharedV4ProviderOptions,
): T {
  const [[name = "", options = {}] = []] = Object.entries(mark);
  return { ...value, providerOptions: { ...value.providerOptions, [name]: { ...value.providerOptions?.[name], ...options } } };
}
