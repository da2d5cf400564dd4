import { sha256 } from "../../src/util/sha256.ts";
import { anthropic, type Canned } from "./dialects.ts";
import { type LocalServer, type Recorded, sendEvents, sendJson, startServer } from "./local-server.ts";

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

/**
 * Anthropic's wire with a meter: a token for four bytes; a request above the window is refused in the provider's words; a prefix up to
 * each mark is cached, and found again at marks alone.
 */
export async function startMeteredServer(
  answer: (request: Recorded, index: number) => Canned | Failure | Promise<Canned | Failure>,
): Promise<MeteredServer> {
  const cache = new Set<string>();
  const billed: Billed[] = [];
  const refused: number[] = [];
  const server = await startServer(async (response, request, index) => {
    const { total, marks } = readPrefixes(request.body);
    if (marks.length > mostMarks)
      return sendJson(response, refusal(`A maximum of 4 blocks with cache_control may be provided.`), 400);
    if (total > window) {
      refused.push(total);
      return sendJson(response, refusal(`prompt is too long: ${total} tokens > ${window} maximum`), 400);
    }
    const canned = await answer(request, index);
    if ("status" in canned) return sendJson(response, anthropic.error("try again"), canned.status);
    const long = marks.filter(({ tokens }) => tokens >= shortestPrefix);
    const read = Math.max(0, ...long.filter(({ key }) => cache.has(key)).map(({ tokens }) => tokens));
    const written = Math.max(read, ...long.map(({ tokens }) => tokens)) - read;
    for (const { key } of long) cache.add(key);
    const isBroken = "broken" in canned;
    const output = isBroken ? 1 : tokensOf(JSON.stringify(canned));
    billed.push({ input: total - read - written, written, read, output });
    const usage = {
      ...{ input_tokens: total - read - written, output_tokens: output },
      ...{ cache_creation_input_tokens: written, cache_read_input_tokens: read },
    };
    if (isBroken || request.body.stream === true) {
      const events = anthropic.events(isBroken ? { text: "x" } : canned).map((event) => withUsage(event, usage));
      if (!isBroken) return sendEvents(response, events);
      sendEvents(response, events.slice(0, 1));
    } else sendJson(response, { ...(anthropic.body(canned) as object), usage });
  });
  return Object.assign(server, { billed, refused });
}

function refusal(message: string) {
  return { type: "error", error: { type: "invalid_request_error", message } };
}

function withUsage(event: string, usage: Readonly<Record<string, number>>): string {
  const { output_tokens, ...input } = usage;
  return event
    .replace(/"usage":\{"input_tokens":[^}]*\}/, `"usage":${JSON.stringify({ ...input, output_tokens: 1 })}`)
    .replace(/"usage":\{"output_tokens":[^}]*\}/, `"usage":${JSON.stringify({ output_tokens })}`);
}

interface Prefix {
  readonly key: string;
  readonly tokens: number;
}

/** The blocks of a request in the order in which a provider reads them: tools, system, messages. */
// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely by the tests
function readPrefixes({ tools = [], system = [], messages }: any): { readonly total: number; readonly marks: readonly Prefix[] } {
  const blocks = [
    ...tools,
    ...[system].flat(),
    ...messages.flatMap(({ role, content }: { role: string; content: unknown }) =>
      [content].flat().map((block) => (typeof block === "string" ? { role, text: block } : { role, ...(block as object) })),
    ),
  ];
  const marks: Prefix[] = [];
  let bytes = 0;
  let key = "";
  for (const { cache_control, ...block } of blocks) {
    const text = JSON.stringify(block);
    bytes += Buffer.byteLength(text);
    key = sha256(key + text);
    if (cache_control) marks.push({ key, tokens: Math.ceil(bytes / 4) });
  }
  return { total: Math.ceil(bytes / 4), marks };
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}
