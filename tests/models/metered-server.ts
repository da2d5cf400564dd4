import { sha256 } from "../../src/util/sha256.ts";
import { anthropic, type Canned, chat } from "./dialects.ts";
import { type LocalServer, type Recorded, sendEvents, sendJson, startServer } from "./local-server.ts";
import { bedrock, type OwnDialect } from "./own-dialects.ts";

/** The bill of a request, in tokens. `input` is at full price, `written` at 1.25 of it, `read` at a tenth. */
export interface Billed {
  readonly input: number;
  readonly written: number;
  readonly read: number;
  readonly output: number;
}

export interface MeteredServer extends LocalServer {
  /** Bills of answered requests, in their order. */
  readonly billed: Billed[];
  /** Tokens of refused requests. */
  readonly refused: number[];
}

/** A failure, in place of an answer: an error before it, or a stream that ends after its first event. */
export type Failure = { readonly status: number } | { readonly broken: true };

export const window = 100_000;
const shortestPrefix = 1024;
const mostMarks = 4;

/** A wire on which prefixes are marked: Anthropic's own, and those of others that sell its models. */
export interface MarkedWire {
  readonly dialect: OwnDialect;
  /** The blocks of a request in the order in which a provider reads them: tools, system, messages. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are read freely by the tests
  readonly blocks: (body: any) => readonly Block[];
  readonly usage: (billed: Billed) => Readonly<Record<string, unknown>>;
}

interface Block {
  readonly text: string;
  readonly isMarked: boolean;
}

/** Reads blocks whose mark is a member. */
function markedByMember(blocks: readonly object[]): Block[] {
  return blocks.map(({ cache_control, ...block }: { cache_control?: unknown }) => ({
    text: JSON.stringify(block),
    isMarked: cache_control !== undefined,
  }));
}

/** Content is a text or a list of blocks. */
function blocksOf(messages: readonly object[]): object[] {
  return messages.flatMap(({ content, ...message }: { content?: unknown }) =>
    [content ?? []]
      .flat()
      .map((block) =>
        typeof block === "string" ? { ...message, type: "text", text: block } : { ...message, ...(block as object) },
      ),
  );
}

export const anthropicWire: MarkedWire = {
  dialect: anthropic,
  blocks: ({ tools = [], system = [], messages }) => markedByMember([...tools, ...[system].flat(), ...blocksOf(messages)]),
  usage: ({ input, written, read, output }) => ({
    ...{ input_tokens: input, output_tokens: output },
    ...{ cache_creation_input_tokens: written, cache_read_input_tokens: read },
  }),
};

export const openrouterWire: MarkedWire = {
  dialect: {
    ...{ ...chat, name: "openrouter", model: "openrouter:anthropic/claude-sonnet-4.5" },
    variables: (url) => ({ OPENROUTER_BASE_URL: url, OPENROUTER_BASE_URL_KEY: "test-key" }),
  },
  blocks: ({ tools = [], messages }) => {
    for (const message of messages) if ("cache_control" in message) throw new Error("a mark belongs into a part of the content");
    return markedByMember([...tools, ...blocksOf(messages)]);
  },
  usage: ({ input, written, read, output }) => ({
    ...{ prompt_tokens: input + written + read, completion_tokens: output, total_tokens: input + written + read + output },
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
  }),
};

export const bedrockWire: MarkedWire = {
  dialect: bedrock,
  blocks: ({ toolConfig = { tools: [] }, system = [], messages }) => {
    const blocks = [...toolConfig.tools, ...system, ...blocksOf(messages)] as { readonly cachePoint?: unknown }[];
    return blocks.flatMap((block, index) => {
      const isMarked = blocks[index + 1]?.cachePoint !== undefined;
      return block.cachePoint === undefined ? [{ text: JSON.stringify(block), isMarked }] : [];
    });
  },
  usage: ({ input, written, read, output }) => ({
    ...{ inputTokens: input, outputTokens: output, totalTokens: input + written + read + output },
    ...{ cacheReadInputTokens: read, cacheWriteInputTokens: written },
  }),
};

/**
 * A provider with a meter: a token for four bytes; a request above the window is refused in Anthropic's words; a prefix up to each mark is
 * cached, and found again at marks alone.
 */
export async function startMeteredServer(
  answer: (request: Recorded, index: number) => Canned | Failure | Promise<Canned | Failure>,
  wire: MarkedWire = anthropicWire,
): Promise<MeteredServer> {
  const cache = new Set<string>();
  const billed: Billed[] = [];
  const refused: number[] = [];
  const server = await startServer(async (response, request, index) => {
    const { total, marks } = readPrefixes(wire.blocks(request.body));
    if (marks.length > mostMarks)
      return sendJson(response, refusal(`A maximum of 4 blocks with cache_control may be provided.`), 400);
    if (total > window) {
      refused.push(total);
      return sendJson(response, refusal(`prompt is too long: ${total} tokens > ${window} maximum`), 400);
    }
    const canned = await answer(request, index);
    if ("status" in canned) return sendJson(response, wire.dialect.error("try again"), canned.status);
    const long = marks.filter(({ tokens }) => tokens >= shortestPrefix);
    const read = Math.max(0, ...long.filter(({ key }) => cache.has(key)).map(({ tokens }) => tokens));
    const written = Math.max(read, ...long.map(({ tokens }) => tokens)) - read;
    for (const { key } of long) cache.add(key);
    const isBroken = "broken" in canned;
    const output = isBroken ? 1 : tokensOf(JSON.stringify(canned));
    const bill = { input: total - read - written, written, read, output };
    billed.push(bill);
    const usage = wire.usage(bill);
    if (isBroken || request.body.stream === true) {
      const events = wire.dialect
        .events(isBroken ? { text: "x" } : canned)
        .map((event) => (typeof event === "string" ? withUsage(event, usage) : event));
      if (!isBroken) return sendEvents(response, events);
      sendEvents(response, events.slice(0, 1));
    } else sendJson(response, { ...(wire.dialect.body(canned) as object), usage });
  });
  return Object.assign(server, { billed, refused });
}

function refusal(message: string) {
  return { type: "error", error: { type: "invalid_request_error", message } };
}

function withUsage(event: string, usage: Readonly<Record<string, unknown>>): string {
  const { output_tokens, ...input } = usage;
  return event
    .replace(/"usage":\{"input_tokens":[^}]*\}/, `"usage":${JSON.stringify({ ...input, output_tokens: 1 })}`)
    .replace(/"usage":\{"output_tokens":[^}]*\}/, `"usage":${JSON.stringify({ output_tokens })}`);
}

interface Prefix {
  readonly key: string;
  readonly tokens: number;
}

function readPrefixes(blocks: readonly Block[]): { readonly total: number; readonly marks: readonly Prefix[] } {
  const marks: Prefix[] = [];
  let bytes = 0;
  let key = "";
  for (const { text, isMarked } of blocks) {
    bytes += Buffer.byteLength(text);
    key = sha256(key + text);
    if (isMarked) marks.push({ key, tokens: Math.ceil(bytes / 4) });
  }
  return { total: Math.ceil(bytes / 4), marks };
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}
