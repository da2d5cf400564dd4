import { describe, expect, test } from "vitest";
import type { Usage } from "../../../src/protocol/usage.ts";
import { anthropic, chat, type Dialect, responses } from "../../models/dialects.ts";
import { sendEvents, sendJson } from "../../models/local-server.ts";
import { event, formsOf, mapEvents, openrouter, type Play, play, type Reply, type Wire, whole } from "./provider-world.ts";

/** A dollar for a thousand tokens of either kind. */
const prices = { "*": { input: 1000, output: 1000 } };
const text = "x".repeat(400);
const call = { id: "c1", tool: "note", args: "{}" };

/** A whole answer with this usage: in the body, and where the stream of the dialect has it. */
function counted(dialect: Dialect, usage: object, canned: object = { text }): Reply {
  const events = mapEvents(dialect.events(canned), (data) => {
    if (data.type === "message_start") data.message.usage = { ...usage, output_tokens: 1 };
    if (data.type === "message_delta") data.usage = usage;
    if (data.type === "response.completed") data.response.usage = usage;
    if (data.usage && data.object === "chat.completion.chunk") data.usage = usage;
    return data;
  });
  return { body: { ...(dialect.body(canned) as object), usage }, events };
}

const chatUsage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const claude = { input_tokens: 100, output_tokens: 20 };
const router = { ...chat, ...openrouter };

interface Row {
  readonly name: string;
  readonly dialect: Dialect;
  readonly reply: Reply;
  readonly usage: Partial<Usage>;
  readonly request?: Partial<Play>;
}

/** Counts as servers give them, and what they come to. */
const counts: readonly Row[] = [
  {
    name: "thought that is counted apart from the answer",
    dialect: chat,
    reply: counted(chat, { ...chatUsage, total_tokens: 500, completion_tokens_details: { reasoning_tokens: 380 } }),
    usage: { inputTokens: 100, outputTokens: 400, reasoningTokens: 380, usd: 0.5 },
  },
  {
    name: "thought that only the sum has",
    dialect: chat,
    reply: counted(chat, { ...chatUsage, total_tokens: 500 }),
    usage: { inputTokens: 100, outputTokens: 400, usd: 0.5 },
  },
  {
    name: "thought that only the sum of a response has",
    dialect: responses,
    reply: counted(responses, { ...claude, total_tokens: 500 }),
    usage: { inputTokens: 100, outputTokens: 400, usd: 0.5 },
  },
  ...[0, 50, -1, 1e300, 1.5, "500", null].map((total) => ({
    name: `a sum that cannot be (${total})`,
    dialect: chat,
    reply: counted(chat, { ...chatUsage, total_tokens: total }),
    usage: { inputTokens: 100, outputTokens: 20, usd: 0.12 },
  })),
  ...[{}, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }].map((last) => ({
    name: `a stream whose last usage is ${JSON.stringify(last)}`,
    dialect: chat,
    reply: { events: [...chat.events({ text }).slice(0, -1), event({ choices: [], usage: last }), event("[DONE]")] },
    usage: { inputTokens: 100, outputTokens: 20, usd: 0.12 },
  })),
  {
    name: "a stream with its usage so far in each piece",
    dialect: chat,
    reply: {
      events: mapEvents(chat.events({ text }), (data) => ({
        ...data,
        usage: data.choices.length > 0 ? { ...chatUsage, completion_tokens: 3 } : chatUsage,
      })),
    },
    usage: { inputTokens: 100, outputTokens: 20, usd: 0.12 },
  },
  ...[0, null].map((again) => ({
    name: `a message whose end says ${again} for its input`,
    dialect: anthropic,
    reply: {
      events: mapEvents(anthropic.events({ text }), (data) => {
        if (data.type === "message_delta") Object.assign(data.usage, { input_tokens: again, cache_read_input_tokens: again });
        return data;
      }),
    },
    usage: { inputTokens: 100, outputTokens: 20, usd: 0.12 },
  })),
  {
    name: "a message whose end alone has its input",
    dialect: anthropic,
    reply: {
      events: mapEvents(anthropic.events({ text }), (data) => {
        if (data.type === "message_start") data.message.usage = { input_tokens: 0, output_tokens: 0 };
        if (data.type === "message_delta") data.usage = claude;
        return data;
      }),
    },
    usage: { inputTokens: 100, outputTokens: 20, usd: 0.12 },
  },
  {
    name: "the end of a response told twice",
    dialect: responses,
    reply: { events: [...responses.events({ text }), responses.events({ text }).at(-1) ?? ""] },
    usage: { requests: 1, inputTokens: 100, outputTokens: 20, usd: 0.12 },
  },
  ...[
    ["prompt_tokens", chat],
    ["input_tokens", anthropic],
    ["input_tokens", responses],
  ].flatMap(([input, dialect]) =>
    [-5, 1e300, 0.5].map((figure) => ({
      name: `${figure} for the input at ${(dialect as Dialect).name}`,
      dialect: dialect as Dialect,
      reply: counted(dialect as Dialect, { ...chatUsage, ...claude, [input as string]: figure, total_tokens: 0 }),
      usage: { outputTokens: 20, cachedInputTokens: 0 },
    })),
  ),
];

/** Dollars as OpenRouter gives them. Prices are a dollar for a thousand tokens, of which there are 120. */
const costs: readonly (readonly [string, object, number])[] = [
  ["a cost", { cost: 0.25 }, 0.25],
  ["a cost beside what the host takes of OpenRouter", { cost: 0.25, cost_details: { upstream_inference_cost: 0.2 } }, 0.25],
  ["the own key's, with a fee", { cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } }, 0.21],
  ["the own key's, of which the fee alone is told", { cost: 0, is_byok: true }, 0.12],
  ["the own key's, of which nothing is told", { cost: 0, is_byok: true, cost_details: { upstream_inference_cost: null } }, 0.12],
  ["the own key's, below nothing", { cost: 0.3, is_byok: true, cost_details: { upstream_inference_cost: -0.25 } }, 0.12],
  ...[-0.01, 1e9, "0.25", null, true, [0.25], {}].map((cost) => [`the cost ${JSON.stringify(cost)}`, { cost }, 0.12] as const),
];

const flat = ({ usage = {}, ...row }: Row & { readonly streaming: boolean }) => ({ ...row, usage });

describe("what is counted of an answer", () => {
  test.each(counts.flatMap((row) => formsOf(row.reply).map((streaming) => flat({ ...row, streaming }))))(
    "$name (streamed: $streaming)",
    async ({ dialect, reply, usage, streaming, request }) => {
      const played = await play({ dialect, streaming, replies: [reply], prices, ...request });
      expect(played.result?.output).toBe(text);
      const { usd = -1, ...rest } = usage;
      expect(played.usage).toMatchObject(rest);
      if (usd >= 0) expect(played.usage?.usd).toBeCloseTo(usd, 9);
      for (const value of Object.values(played.usage ?? {})) expect(value >= 0 && Number.isFinite(value)).toBe(true);
      if (!("inputTokens" in usage)) expect(played.usage?.inputTokens).toBeGreaterThan(10);
    },
  );

  test.each(costs.flatMap(([name, said, usd]) => [false, true].map((streaming) => ({ name, said, usd, streaming }))))(
    "$name (streamed: $streaming)",
    async ({ said, usd, streaming }) => {
      const reply = counted(router, { ...chatUsage, ...said });
      const { usage } = await play({ dialect: router, streaming, replies: [reply], prices });
      expect(usage?.usd).toBeCloseTo(usd, 9);
    },
  );

  const perMillion = 1e-6;
  test.each<[string, object, number]>([
    [
      "a cache for an hour",
      { cache_creation_input_tokens: 1000, cache_creation: { ephemeral_1h_input_tokens: 1000 } },
      1000 * 6 * perMillion,
    ],
    [
      "a cache for five minutes",
      { cache_creation_input_tokens: 1000, cache_creation: { ephemeral_5m_input_tokens: 1000 } },
      1000 * 3.75 * perMillion,
    ],
    ["a cache for nobody knows how long", { cache_creation_input_tokens: 1000 }, 1000 * 3.75 * perMillion],
    ["searches that the answer does not show", { server_tool_use: { web_search_requests: 3 } }, 0.03],
    ["searches without end", { server_tool_use: { web_search_requests: 1e300 } }, 0],
  ])("Anthropic's %s, by the table's prices", async (_, more, usd) => {
    for (const streaming of [false, true]) {
      const { usage } = await play({ dialect: anthropic, streaming, replies: [counted(anthropic, { ...claude, ...more })] });
      expect(usage?.usd).toBeCloseTo((100 * 3 + 20 * 15) * perMillion + usd, 9);
    }
  });
});

describe("what is counted of attempts that failed", () => {
  /** Text, and then the connection ends. */
  const torn = (dialect: Dialect): Reply => {
    const events = dialect.events({ text });
    const last = events.findLastIndex((one) => one.includes('"delta"') && one.includes("xxx"));
    return { events: events.slice(0, last + 1) };
  };

  test.each([chat, anthropic, responses])("text that came before a stream broke off: $name", async (dialect) => {
    const replies = [...Array(4).fill(torn(dialect)), whole(dialect, { text })];
    const { result, usage } = await play({ dialect, streaming: true, replies, prices });
    expect(result?.output).toBe(text);
    expect(usage?.requests).toBe(5);
    expect(usage?.outputTokens).toBe(4 * 100 + 20);
    expect(usage?.inputTokens).toBeGreaterThan(5 * 10);
    expect(usage?.usd).toBeCloseTo(((usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)) / 1000, 9);
    expect(usage?.estimatedTokens).toBeGreaterThanOrEqual(4 * 80);
  });

  test.each([chat, anthropic, responses])("text that came before a stream broke off, under a limit: $name", async (dialect) => {
    const replies = Array(5).fill(torn(dialect));
    const { result, requests } = await play({ dialect, streaming: true, replies, prices, limits: { usd: 0.5 } });
    expect(result?.stopReason).toBe("limit");
    expect(requests.length).toBeLessThan(5);
  });

  test("text that came before the run was aborted", async () => {
    const controller = new AbortController();
    const { error, usage } = await play({
      dialect: chat,
      streaming: true,
      answer: (response) => sendEvents(response, torn(chat).events ?? [], false),
      signal: controller.signal,
      onEvent: ({ type }) => type === "text-delta" && controller.abort(),
    });
    expect(error).toMatchObject({ code: "aborted" });
    expect(usage).toMatchObject({ requests: 1 });
    expect(usage?.outputTokens).toBeGreaterThan(0);
  });

  const failed = { code: 502, message: "the host died" };
  test.each<[string, Reply]>([
    ["beside the error", { body: { ...(chat.body({ text }) as object), error: failed, usage: { ...chatUsage, cost: 0.25 } } }],
    [
      "in the event of the error",
      {
        events: [
          ...chat.events({ text }).slice(0, 3),
          event({ error: failed, choices: [], usage: { ...chatUsage, cost: 0.25 } }),
        ],
      },
    ],
    [
      "in the event before the error",
      {
        events: [
          ...chat.events({ text }).slice(0, 3),
          event({ choices: [], usage: { ...chatUsage, cost: 0.25 } }),
          event({ error: failed }),
        ],
      },
    ],
  ])("the usage that stands %s, once for each attempt", async (_, reply) => {
    const { usage, requests } = await play({ dialect: router, streaming: !reply.body, replies: Array(5).fill(reply), prices });
    expect(requests).toHaveLength(5);
    expect(usage).toMatchObject({ requests: 5, inputTokens: 500 });
    expect(usage?.usd).toBeCloseTo(5 * 0.25, 9);
  });

  test("nothing of a request that was refused at once", async () => {
    const reply = { body: chat.error("slow"), status: 429 };
    const { usage } = await play({ dialect: chat, replies: Array(5).fill(reply), prices });
    expect(usage).toMatchObject({ requests: 0, inputTokens: 0, outputTokens: 0 });
  });
});

describe("what is counted of a run", () => {
  test.each<[string, Dialect, readonly Reply[], number]>([
    ["an empty answer and the one after it", chat, [whole(chat, {}), whole(chat, { text })], 2],
    ["a cut answer and the one after it", chat, [whole(chat, { calls: [call], finish: "length" }), whole(chat, { text })], 2],
    [
      "each part of a paused turn",
      anthropic,
      [...Array(3).fill(whole(anthropic, { text: "a", finish: "pause_turn" })), whole(anthropic, { text })],
      4,
    ],
    ["an answer of announced calls that never came", chat, [whole(chat, { text, finish: "tool_calls" })], 1],
  ])("%s", async (_, dialect, replies, requests) => {
    const { usage } = await play({ dialect, replies, prices });
    expect(usage).toMatchObject({ requests, inputTokens: 100 * requests, outputTokens: 20 * requests });
    expect(usage?.usd).toBeCloseTo(0.12 * requests, 9);
  });

  test.each([200, 500])("a worker that was called, and answers with HTTP %i", async (status) => {
    const { events, usage } = await play({
      dialect: router,
      prices,
      frontmatter: "toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }",
      files: { "/program/child.worker": "---\ndescription: c\n---\nYou are the child.\n" },
      answer: (response, { body }) => {
        const child = JSON.stringify(body).includes("You are the child.");
        const calls =
          child || body.messages.at(-1).role === "tool" ? {} : { calls: [{ id: "c1", tool: "child", args: '{"input":"x"}' }] };
        const answer = chat.body({ text, ...calls }) as Wire;
        if (!child || status === 200) return sendJson(response, { ...answer, usage: { ...chatUsage, cost: 0.25 } });
        return sendJson(response, { ...answer, error: { code: 500, message: "no" }, usage: { ...chatUsage, cost: 0.25 } });
      },
    });
    const attempts = status === 200 ? 1 : 5;
    expect(usage).toMatchObject({ requests: 2 + attempts, inputTokens: 100 * (2 + attempts) });
    expect(usage?.usd).toBeCloseTo(0.25 * (2 + attempts), 9);
    const ends = events.flatMap((one) => (one.type === "call-end" && one.kind === "worker" ? [one.usage?.usd] : []));
    expect(ends).toEqual([0.25 * attempts, 0.25 * (2 + attempts)].map((usd) => expect.closeTo(usd, 9)));
  });

  test.each([
    ["tokens", { tokens: 3000 }],
    ["dollars", { usd: 3 }],
  ])("an answer that is longer than it may be ends the run at the limit of %s", async (_, limits) => {
    const reply = counted(chat, { prompt_tokens: 100, completion_tokens: 50_000 }, { calls: [call] });
    const { result, requests, usage } = await play({ dialect: chat, replies: Array(5).fill(reply), prices, limits });
    expect(result?.stopReason).toBe("limit");
    expect(requests).toHaveLength(1);
    expect(usage?.outputTokens).toBe(50_000);
  });

  test.each([
    ["thought that only the sum has", { ...chatUsage, total_tokens: 1500 }],
    ["no usage", undefined],
  ])("a limit sees %s", async (_, usage) => {
    const reply = { body: { ...(chat.body({ text: "x".repeat(4000), calls: [call] }) as object), usage } };
    const { result, requests } = await play({ dialect: chat, replies: Array(20).fill(reply), limits: { tokens: 6000 } });
    expect(result?.stopReason).toBe("limit");
    expect(requests.length).toBeLessThan(8);
  });
});
