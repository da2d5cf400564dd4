import type { LanguageModelV4CallOptions, LanguageModelV4Message as Message, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { JsonObject } from "../../protocol/json.ts";

/** How a provider is told that the request up to a place is to be kept in its cache. Most providers need no mark. */
export interface CacheMark {
  /** Under the library's own options: of a tool, of a message, and of a whole request. */
  readonly option: string;
  readonly value: JsonObject;
  /** Matches the names of the models that take marks; others refuse them. Absent: all. */
  readonly models?: RegExp;
  /** True if the library takes the mark of a user's message or of tool results from their last part. Default: from the message. */
  readonly onParts?: boolean;
}

type Tools = NonNullable<LanguageModelV4CallOptions["tools"]>;
type Marked = Pick<LanguageModelV4CallOptions, "prompt" | "tools">;

interface Marking extends Pick<CacheMark, "onParts"> {
  /** The mark as the library takes it. */
  readonly mark: SharedV4ProviderOptions;
  readonly always: boolean;
}

/**
 * Marks at most four places, which is what Anthropic takes: the last tool, the last system part, and, where a conversation is likely
 * to go on, the end of the last request and the end of this one. What the last request has written is then always found. A
 * request without tools is likely to be the only one, and what is written costs more: its end is marked only where `always` is true.
 */
export function markCache({ prompt, tools = [] }: Marked, { mark, always, onParts = false }: Marking): Marked {
  const system = prompt.findLastIndex(({ role }) => role === "system");
  const answer = prompt.findLastIndex(({ role }) => role === "assistant");
  const goesOn = always || tools.length > 0 || answer >= 0;
  const places = new Set([system, ...(goesOn ? [answer - 1, prompt.length - 1] : [])]);
  const markMessage = (message: Message): Message =>
    onParts && (message.role === "user" || message.role === "tool")
      ? ({ ...message, content: [...message.content.slice(0, -1), addMark(message.content.at(-1) ?? {}, mark)] } as Message)
      : addMark(message, mark);
  const lastTool = tools.findLastIndex(({ type }) => type === "function");
  return {
    prompt: prompt.map((message, index) => (places.has(index) ? markMessage(message) : message)),
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
