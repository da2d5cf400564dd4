import { describe, expect, test } from "vitest";
import { runCli, writeProgram } from "../../cli/run-cli.ts";
import { anthropic, chat, type Dialect, responses } from "../../models/dialects.ts";
import { sendJson, startServer } from "../../models/local-server.ts";
import { event, formsOf, mapEvents, openrouter, play, type Reply, type Wire, whole } from "./provider-world.ts";

const call = { id: "c1", tool: "note", args: '{"text":"x"}' };
const said = { text: "The answer is forty-" };

/** A reply of chat completions whose choice is changed: the body's, and that of each event. */
function chatReply(canned: object, change: (choice: Wire, holder: Wire) => void): Reply {
  const body = structuredClone(chat.body(canned)) as Wire;
  change(body.choices[0], body);
  const events = mapEvents(chat.events(canned), (data) => {
    if (data.choices[0]) change(data.choices[0], data);
    return data;
  });
  return { body, events };
}

function chatFinish(canned: object, finish: string | null): Reply {
  return chatReply(canned, (choice) => {
    if (choice.finish_reason !== null) choice.finish_reason = finish;
  });
}

/** A reply of the Responses API whose last event, or body, is changed. */
function responsesReply(canned: object, change: (response: Wire) => void): Reply {
  const body = structuredClone(responses.body(canned)) as Wire;
  change(body);
  const events = mapEvents(responses.events(canned), (data) => {
    if (data.type === "response.completed") change(data.response);
    return data;
  });
  return { body, events };
}

const chunk = (delta: object, finish: string | null = null, index = 0) =>
  event({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index, delta, finish_reason: finish }] });

const only = ({ events }: Reply): Reply => ({ events: events ?? [] });
const plain = ({ body }: Reply): Reply => ({ body });

interface Row {
  readonly name: string;
  readonly dialect: Pick<Dialect, "model" | "variables">;
  readonly reply: Reply;
  /** Result for the caller of the run: a stop reason with an output, or the error's code. */
  readonly ends: string;
  /** In the reason or the error's message. */
  readonly says?: RegExp;
}

/** Answers that are no whole ones. Nothing may come out as `done`, and no call of theirs may run. */
const rows: readonly Row[] = [
  ...["insufficient_system_resource", "abort", "network_error", "load", "SHINY_NEW_WORD"].map((word) => ({
    name: `chat completions that end with ${word}`,
    dialect: chat,
    reply: chatFinish(said, word),
    ends: "cut",
    says: new RegExp(word),
  })),
  ...["MAX_TOKENS", "max_tokens"].map((word) => ({
    name: `chat completions that end with another wire's ${word}`,
    dialect: chat,
    reply: chatFinish(said, word),
    ends: "cut",
    says: /max_output_tokens/,
  })),
  ...["sensitive", "SAFETY", "RECITATION", "refusal"].map((word) => ({
    name: `chat completions that end with a filter's ${word}`,
    dialect: chat,
    reply: chatFinish(said, word),
    ends: "refused",
    says: new RegExp(word),
  })),
  {
    name: "text with a call announced, and none there",
    dialect: chat,
    reply: chatFinish({ text: "Let me look." }, "tool_calls"),
    ends: "cut",
  },
  {
    name: "a call in the older member `function_call`",
    dialect: chat,
    reply: chatReply({ text: "Let me look." }, (choice) => {
      if (choice.message) choice.message.function_call = { name: "note", arguments: "{}" };
      if (choice.delta?.content) choice.delta.function_call = { name: "note", arguments: "{}" };
      if (choice.finish_reason) choice.finish_reason = "function_call";
    }),
    ends: "cut",
  },
  {
    name: "a refusal without a finish reason",
    dialect: chat,
    reply: plain(chatFinish({ refusal: "I will not." }, null)),
    ends: "refused",
    says: /I will not/,
  },
  {
    name: "a refusal under another word",
    dialect: chat,
    reply: chatFinish({ refusal: "I will not." }, "end_turn"),
    ends: "refused",
    says: /I will not/,
  },
  {
    name: "a refusal beside a call",
    dialect: chat,
    reply: whole(chat, { refusal: "I will not.", calls: [call] }),
    ends: "refused",
    says: /I will not/,
  },
  {
    name: "an error beside a whole answer",
    dialect: openrouter,
    reply: chatReply(said, (choice, holder) => {
      if (choice.finish_reason) holder.error = { code: 502, message: "the host died" };
    }),
    ends: "provider",
    says: /the host died/,
  },
  {
    name: "an error in the choice",
    dialect: openrouter,
    reply: chatReply(said, (choice) => {
      if (!choice.finish_reason) return;
      choice.error = { code: 502, message: "the host died" };
      choice.finish_reason = "error";
    }),
    ends: "provider",
    says: /the host died/,
  },
  {
    name: "an error in a choice that says it is complete",
    dialect: openrouter,
    reply: chatReply(said, (choice) => {
      if (choice.finish_reason) choice.error = { code: 502, message: "the host died" };
    }),
    ends: "provider",
    says: /the host died/,
  },
  {
    name: "a stream that ends after the first half of a call and its mark",
    dialect: chat,
    reply: {
      events: [
        chunk({ role: "assistant", content: "Let me look." }),
        chunk({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "note", arguments: '{"text":' } }] }),
        event("[DONE]"),
      ],
    },
    // The call is returned to the model as invalid, which makes it again.
    ends: "loop",
  },
  {
    name: "two calls without index and id, whose arguments belong to nobody",
    dialect: chat,
    reply: {
      events: [
        chunk({ tool_calls: ["note", "note"].map((name) => ({ type: "function", function: { name, arguments: "" } })) }),
        chunk({ tool_calls: [{ function: { arguments: '{"text":' } }] }),
        chunk({ tool_calls: [{ function: { arguments: '"x"}' } }] }),
        chunk({}, "tool_calls"),
        event("[DONE]"),
      ],
    },
    ends: "provider",
    says: /belongs to none of the calls/,
  },
  ...(["incomplete", "in_progress", "queued", "cancelled", "failed"] as const).flatMap((status) =>
    [said, { ...said, calls: [call] }].map((canned) => ({
      name: `a response with the status ${status} and nothing more${"calls" in canned ? ", with a call" : ""}`,
      dialect: responses,
      reply: responsesReply(canned, (response) => {
        response.status = status;
      }),
      ends: status === "failed" ? "provider" : "cut",
    })),
  ),
  {
    name: "a response that is incomplete for a reason that nobody knows",
    dialect: responses,
    reply: whole(responses, { ...said, calls: [call], finish: "shiny_reason" }),
    ends: "cut",
    says: /shiny_reason/,
  },
  {
    name: "a message that is incomplete in a response that is complete",
    dialect: responses,
    reply: responsesReply(said, (response) => {
      response.output[0].status = "incomplete";
    }),
    ends: "cut",
  },
  {
    name: "a call that is incomplete in a response that is complete",
    dialect: responses,
    reply: responsesReply({ ...said, calls: [call] }, (response) => {
      response.output[1].status = "incomplete";
    }),
    ends: "cut",
  },
  {
    name: "a refusal beside a call of the Responses API",
    dialect: responses,
    reply: whole(responses, { refusal: "I will not.", calls: [call] }),
    ends: "refused",
    says: /I will not/,
  },
  {
    name: "a call that the stream begins and never finishes",
    dialect: responses,
    reply: {
      events: mapEvents(responses.events({ ...said, calls: [call] }), (data) =>
        data.type === "response.output_item.done" && data.item.type === "function_call" ? undefined : data,
      ),
    },
    ends: "cut",
  },
  {
    name: "a block of a call that the stream begins and never finishes",
    dialect: anthropic,
    reply: {
      events: mapEvents(anthropic.events({ ...said, calls: [call] }), (data) =>
        data.type === "content_block_stop" && data.index === 1 ? undefined : data,
      ),
    },
    ends: "cut",
  },
  {
    name: "a call announced, and none there",
    dialect: anthropic,
    reply: whole(anthropic, { ...said, finish: "tool_use" }),
    ends: "cut",
  },
  ...["compaction", "shiny_stop"].map((finish) => ({
    name: `a message that ends with ${finish}`,
    dialect: anthropic,
    reply: whole(anthropic, { ...said, finish }),
    ends: "cut",
    says: new RegExp(finish),
  })),
];

describe("an answer that is not whole is not handed on as one", () => {
  test.each(rows.flatMap((row) => formsOf(row.reply).map((streaming) => ({ ...row, streaming }))))(
    "$name (streamed: $streaming)",
    async ({ dialect, reply, ends, says, streaming }) => {
      // Attempts that are made again get the same.
      const { result, error, executed, events } = await play({ dialect, streaming, replies: Array(6).fill(reply) });
      expect(executed).toEqual([]);
      expect(result?.stopReason ?? error?.code).toBe(ends);
      expect(events.at(-1)).toMatchObject({ type: "run-end", stopReason: ends === "cut" ? "cut" : "failed" });
      if (says) expect(result?.reason ?? error?.message).toMatch(says);
    },
  );
});

/** Calls whose arguments did not come as they were sent. */
const torn: readonly (readonly [string, Dialect, Reply])[] = [
  [
    "an empty object, and then the arguments",
    chat,
    only({
      events: [
        chunk({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "note", arguments: "{}" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"text":"x"}' } }] }),
        chunk({}, "tool_calls"),
        event("[DONE]"),
      ],
    }),
  ],
  ["arguments, and more after them", chat, whole(chat, { calls: [{ ...call, args: '{"text":"x"} and more' }] })],
  [
    "half of the arguments, in an answer that says it is complete",
    chat,
    whole(chat, { calls: [{ ...call, args: '{"text":"x' }] }),
  ],
  [
    "half of the arguments, in a message that says it is complete",
    anthropic,
    {
      events: mapEvents(anthropic.events({ calls: [call] }), (data) => {
        if (data.delta?.partial_json) data.delta.partial_json = data.delta.partial_json.replace('x"}', "x");
        return data;
      }),
    },
  ],
  [
    "half of the arguments, in a response that says it is complete",
    responses,
    whole(responses, { calls: [{ ...call, args: '{"text":"x' }] }),
  ],
  ["a key twice", chat, whole(chat, { calls: [{ ...call, args: '{"text":"x","text":"y"}' }] })],
  ["a key twice, once in escapes", responses, whole(responses, { calls: [{ ...call, args: '{"text":"x","te\\u0078t":"y"}' }] })],
];

describe("a call whose arguments are torn does not run", () => {
  test.each(torn.flatMap(([name, dialect, reply]) => formsOf(reply).map((streaming) => ({ name, dialect, reply, streaming }))))(
    "$name (streamed: $streaming)",
    async ({ dialect, reply, streaming }) => {
      const replies = [reply, ...Array(5).fill(whole(dialect, { text: "done" }))];
      const { result, executed } = await play({ dialect, streaming, replies });
      expect(executed).toEqual([]);
      expect(result).toMatchObject({ stopReason: "done", output: "done" });
    },
  );
});

/** Answers that look odd and are whole. */
const honest: readonly (readonly [string, Pick<Dialect, "model" | "variables">, Reply, string])[] = [
  ...["stop", "eos", "end_turn", "stop_sequence", "COMPLETE", "STOP"].map(
    (word) => [`text that ends with ${word}`, chat, chatFinish({ text: "done" }, word), "done"] as const,
  ),
  ["text without a finish reason", chat, plain(chatFinish({ text: "done" }, null)), "done"],
  [
    "text with a refusal of no words",
    chat,
    chatReply({ text: "done" }, ({ message }) => message && Object.assign(message, { refusal: "" })),
    "done",
  ],
  [
    "a second choice beside the first",
    chat,
    {
      body: {
        ...(chat.body({ text: "done" }) as object),
        choices: [...(chat.body({ text: "done" }) as Wire).choices, (chat.body({ text: "other" }) as Wire).choices[0]],
      },
      events: [
        chunk({ content: "do" }),
        chunk({ content: "other" }, null, 1),
        chunk({}, "length", 1),
        chunk({ content: "ne" }),
        chunk({}, "stop"),
        event("[DONE]"),
      ],
    },
    "done",
  ],
  ["an error of null", openrouter, chatReply({ text: "done" }, (_, holder) => (holder.error = null)), "done"],
];

const honestCalls: readonly (readonly [string, Dialect, Reply])[] = [
  ...["stop", "tool_use", "function_call", "tool_call"].map(
    (word) => [`a call in an answer that ends with ${word}`, chat, chatFinish({ calls: [call] }, word)] as const,
  ),
  [
    "arguments that come whole with the start of their block",
    anthropic,
    {
      events: mapEvents(anthropic.events({ calls: [call] }), (data) => {
        if (data.content_block) data.content_block.input = { text: "x" };
        return data.type === "content_block_delta" ? undefined : data;
      }),
    },
  ],
  [
    "a name that comes after the arguments",
    chat,
    {
      events: [
        chunk({ tool_calls: [{ index: 0, id: "c1", function: { arguments: '{"text":' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { name: "note", arguments: '"x"}' } }] }),
        chunk({}, "tool_calls"),
        event("[DONE]"),
      ],
    },
  ],
  [
    "pieces of two calls that come in turns",
    chat,
    {
      events: [
        chunk({ tool_calls: [0, 1].map((index) => ({ index, id: `c${index}`, function: { name: "note", arguments: "" } })) }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: '{"text":' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"text":"x"}' } }] }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: '"x"}' } }] }),
        chunk({}, "tool_calls"),
        event("[DONE]"),
      ],
    },
  ],
];

describe("an odd answer that is whole counts", () => {
  test.each(
    honest.flatMap(([name, dialect, reply, output]) =>
      formsOf(reply).map((streaming) => ({ name, dialect, reply, output, streaming })),
    ),
  )("$name (streamed: $streaming)", async ({ dialect, reply, output, streaming }) => {
    const { result, requests } = await play({ dialect, streaming, replies: [reply] });
    expect(result).toMatchObject({ stopReason: "done", output });
    expect(requests).toHaveLength(1);
  });

  test.each(
    honestCalls.flatMap(([name, dialect, reply]) => formsOf(reply).map((streaming) => ({ name, dialect, reply, streaming }))),
  )("$name (streamed: $streaming)", async ({ name, dialect, reply, streaming }) => {
    const { result, executed } = await play({ dialect, streaming, replies: [reply, whole(dialect, { text: "done" })] });
    expect(result).toMatchObject({ stopReason: "done", output: "done" });
    expect(executed).toEqual(Array(name.includes("two calls") ? 2 : 1).fill({ text: "x" }));
  });
});

test("a turn that is paused without end is ended by the limit of turns", async () => {
  const { result, requests } = await play({
    dialect: anthropic,
    replies: Array(9).fill(whole(anthropic, { text: "a", finish: "pause_turn" })),
    frontmatter: "limits: { turns: 4 }",
  });
  expect(result).toMatchObject({ stopReason: "limit" });
  expect(requests).toHaveLength(4);
});

test.each([
  ["abort", "cut"],
  ["sensitive", "refused"],
])("a worker whose answer ends with %s is a failed call for its caller", async (finish, type) => {
  const { result, requests } = await play({
    dialect: chat,
    frontmatter: "toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }",
    files: { "/program/child.worker": "---\ndescription: c\n---\nYou are the child.\n" },
    answer: (response, { body }) => {
      const isChild = JSON.stringify(body).includes("You are the child.");
      const isLast = body.messages.at(-1).role === "tool";
      const canned = isChild
        ? { text: "half", finish }
        : isLast
          ? { text: "done" }
          : { calls: [{ id: "c1", tool: "child", args: '{"input":"x"}' }] };
      sendJson(response, chat.body(canned));
    },
  });
  expect(result).toMatchObject({ stopReason: "done", output: "done" });
  expect(JSON.parse(requests.at(-1)?.body.messages.at(-1).content)).toMatchObject({ type });
});

test.each<[string, Reply, number, string]>([
  ["cut by a word that nobody knows", chatFinish(said, "abort"), 6, said.text],
  ["of calls announced that never came", chatFinish(said, "tool_calls"), 6, said.text],
  ["refused in a member beside another word", chatFinish({ refusal: "I will not." }, "end_turn"), 7, ""],
  ["with an error beside it", chatReply(said, (_, holder) => (holder.error = { message: "died" })), 7, ""],
  ["empty twice", whole(chat, {}), 3, ""],
  ["whole", whole(chat, said), 0, said.text],
])("the exit code of the command says so: an answer %s", async (_, reply, exitCode, stdout) => {
  await using server = await startServer((response) => sendJson(response, reply.body));
  const cwd = await writeProgram({ "main.worker": "---\nmodel_settings: { max_retries: 0 }\n---\nAnswer.\n" });
  const run = await runCli([".", "x", "--model", chat.model, "--no-journal"], { cwd, env: chat.variables(server.url) });
  expect([run.exitCode, run.stdout.trim()]).toEqual([exitCode, stdout]);
});
