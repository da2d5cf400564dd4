import type { Message } from "../../src/protocol/message.ts";
import { chat, responses } from "./dialects.ts";

type Part = Extract<Message, { role: "assistant" }>["parts"][number];

/** An answer for which the provider has searched the web, and what becomes of it. */
export interface SearchRow {
  readonly name: string;
  readonly model: string;
  /** False where the provider searches for each answer, unasked. */
  readonly asks: boolean;
  /** The part that a request must hold. */
  readonly sent: object;
  readonly body: unknown;
  readonly events: readonly string[];
  /** The parts of the answer, streamed or not. */
  readonly parts: readonly (Partial<Part> & Pick<Part, "type">)[];
  /** The part of the next request that stands for the answer. */
  readonly back: object;
  readonly usd?: number;
}

const found = { url: "https://example.org/a", title: "A" };
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

const grounded = {
  candidates: [
    {
      content: { role: "model", parts: [{ text: "Moths." }] },
      finishReason: "STOP",
      groundingMetadata: {
        webSearchQueries: ["moths"],
        groundingChunks: [{ web: { uri: found.url, title: found.title } }],
        groundingSupports: [{ segment: { startIndex: 0, endIndex: 6, text: "Moths." }, groundingChunkIndices: [0] }],
      },
    },
  ],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
};

const searchCall = {
  type: "web_search_call",
  id: "ws_1",
  name: "web_search",
  status: "completed",
  action: { type: "search", query: "moths", sources: [{ type: "url", url: found.url }] },
};
const cited = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [
    {
      type: "output_text",
      text: "Moths.",
      annotations: [{ type: "url_citation", start_index: 0, end_index: 6, ...found }],
    },
  ],
};
const xaiBody = { ...(responses.body({ text: "Moths." }) as object), output: [searchCall, cited] };

const cost = { input_tokens_cost: 0.0001, output_tokens_cost: 0.0002, request_cost: 0.005, total_cost: 0.0053 };
const perplexityUsage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, num_search_queries: 1, cost };
const [perplexityStart = "", ...perplexityRest] = chat.events({ text: "Moths." });

export const searchRows: readonly SearchRow[] = [
  {
    ...{ name: "google", model: "google:gemini-2.5-pro", asks: true },
    sent: { tools: [{ googleSearch: {} }] },
    body: grounded,
    events: [event(grounded)],
    parts: [
      { type: "text", text: "Moths." },
      { type: "source", ...found },
    ],
    back: { contents: [{}, { role: "model", parts: [{ text: "Moths." }] }, {}] },
  },
  {
    ...{ name: "xai", model: "xai:grok-4", asks: true },
    sent: { tools: [{ type: "web_search", allowed_domains: ["example.org"] }], store: false },
    body: xaiBody,
    events: [
      event({ type: "response.created", response: { ...xaiBody, output: [], status: "in_progress" } }),
      event({ type: "response.output_item.added", output_index: 0, item: { ...searchCall, status: "in_progress" } }),
      event({ type: "response.output_item.done", output_index: 0, item: searchCall }),
      event({ type: "response.output_item.done", output_index: 1, item: cited }),
      event({ type: "response.completed", response: xaiBody }),
    ],
    parts: [
      { type: "server-call", id: "ws_1", name: "web_search" },
      { type: "server-result", id: "ws_1", name: "web_search", ok: true },
      { type: "text", text: "Moths." },
      { type: "source", ...found },
    ],
    back: { input: [{}, { role: "assistant", content: "Moths." }, {}] },
  },
  {
    ...{ name: "perplexity", model: "perplexity:sonar", asks: false },
    sent: { model: "sonar" },
    body: { ...(chat.body({ text: "Moths." }) as object), citations: [found.url], usage: perplexityUsage },
    events: [
      event({ ...JSON.parse(perplexityStart.slice("data: ".length)), citations: [found.url] }),
      ...perplexityRest.slice(0, -2),
      event({ id: "1", created: 1, model: "sonar", choices: [], usage: perplexityUsage }),
      "data: [DONE]\n\n",
    ],
    parts: [
      { type: "text", text: "Moths." },
      { type: "source", url: found.url },
    ],
    back: { messages: [{}, { role: "assistant", content: "Moths." }, {}] },
    usd: cost.total_cost,
  },
];
