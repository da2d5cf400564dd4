import { expect, test } from "vitest";
import { type RawClient, type RawMessage, startRaw } from "./raw-client.ts";
import { createDoorWorld } from "./world.ts";

/** Clients that keep to no protocol, at the command. Each case looks for the effect: the file that a question is about. */

const approved = { outcome: { outcome: "selected", optionId: "approve" } };
const denied = { outcome: { outcome: "selected", optionId: "deny" } };

async function connect(...args: readonly string[]) {
  const world = await createDoorWorld();
  const raw = startRaw(["acp", world.folder, "--trust", ...args], world.folder);
  await raw.request("initialize", { protocolVersion: 1, clientCapabilities: {} }).answer;
  const begin = async () => {
    const { result } = await raw.request("session/new", { cwd: world.folder, mcpServers: [] }).answer;
    return String(result?.["sessionId"]);
  };
  const prompt = (sessionId: string, text: string) =>
    raw.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }).answer;
  const reply = (id: RawMessage["id"] | object, result: object) => raw.send({ id, result });
  /** The open question, whichever session it is of. */
  const question = (fits: (message: RawMessage) => boolean = () => true) =>
    raw.find((message) => message.method === "session/request_permission" && fits(message));
  return { world, raw, begin, prompt, reply, question };
}

type Connected = Awaited<ReturnType<typeof connect>>;

type Forge = (connected: Connected, id: RawMessage["id"], sessionId: string) => Promise<void> | void;

const forgeries: readonly (readonly [string, Forge])[] = [
  ["of an option that was not offered", ({ reply }, id) => reply(id, { outcome: { outcome: "selected", optionId: "rule-99" } })],
  ["of `__proto__`", ({ reply }, id) => reply(id, { outcome: { outcome: "selected", optionId: "__proto__" } })],
  ["of a list", ({ reply }, id) => reply(id, { outcome: { outcome: "selected", optionId: ["approve"] } })],
  ["of no outcome", ({ reply }, id) => reply(id, { outcome: "approve", optionId: "approve" })],
  ["of an error beside an approval", ({ raw }, id) => raw.send({ id, error: { code: 1, message: "no" }, result: approved })],
  [
    "that denies, and a second that approves",
    ({ reply }, id) => {
      reply(id, denied);
      reply(id, approved);
    },
  ],
  [
    "after the message was cancelled",
    ({ raw, reply }, id, sessionId) => {
      raw.send({ method: "session/cancel", params: { sessionId } });
      reply(id, approved);
    },
  ],
  [
    "to other ids, then a denial",
    ({ reply }, id) => {
      for (const other of [Number(id) + 1, Number(id) - 1, String(id), [id], {}]) reply(other, approved);
      reply(id, denied);
    },
  ],
];

test("a forged reply approves nothing", async () => {
  const connected = await connect();
  const { world, begin, prompt, question } = connected;
  for (const [name, forge] of forgeries) {
    const sessionId = await begin();
    const answered = prompt(sessionId, "write it");
    const { id } = await question(({ params }) => params?.["sessionId"] === sessionId);
    await forge(connected, id, sessionId);
    expect(await answered, name).toMatchObject({ result: { stopReason: expect.stringMatching(/end_turn|cancelled/) } });
    expect(world.written(), name).toBe(undefined);
  }
});

test("an approval in advance, or of another session's question, approves nothing", async () => {
  const { world, begin, prompt, reply, question } = await connect();
  const [one, other] = [await begin(), await begin()];
  for (let id = 0; id < 20; id++) reply(id, approved);
  const answers = [prompt(one, "write one"), prompt(other, "write other")];
  const of = (sessionId: string) => question(({ params }) => params?.["sessionId"] === sessionId);
  const [first, second] = [await of(one), await of(other)];
  expect(world.written()).toBe(undefined);
  reply(first.id, { ...denied, sessionId: other });
  reply(second.id, { ...denied, sessionId: one });
  await Promise.all(answers);
  expect(world.written()).toBe(undefined);
});

test("a client that does not read for a while loses no session, and gets all of it", { timeout: 60_000 }, async () => {
  const { raw, begin, prompt, question, reply, world } = await connect();
  const [long, waiting] = [await begin(), await begin()];
  const written = prompt(waiting, "write it");
  const { id } = await question();
  raw.child.stdout?.pause();
  const size = 1_000_000;
  const answered = prompt(long, `hello ${"x".repeat(size)}`);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  raw.child.stdout?.resume();
  expect(await answered).toMatchObject({ result: { stopReason: "end_turn" } });
  let got = 0;
  await raw.find(({ params }) => {
    got +=
      JSON.stringify(params ?? "")
        .match(/x{100,}/g)
        ?.join("").length ?? 0;
    return got >= size;
  });
  reply(id, approved);
  await written;
  expect(world.written()).toBe("hello1");
});

test("a flood of sessions and of messages that fit nothing ends no conversation that is answered", async () => {
  const { raw, begin, prompt, question, reply, world } = await connect();
  const written = prompt(await begin(), "write it");
  const { id } = await question();
  const flood: readonly (string | object)[] = [
    ...Array.from({ length: 300 }, (_, n) => ({ id: `s${n}`, method: "session/new", params: { cwd: "/", mcpServers: [] } })),
    ...Array.from({ length: 1000 }, () => ({ method: "session/cancel", params: { sessionId: "nobody" } })),
    ...Array.from({ length: 1000 }, (_, n) => ({ id: `x${n}`, method: "__proto__", params: {} })),
    "not JSON",
    "[]",
    `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
  ];
  for (const line of flood) raw.send(line);
  await answerOf(raw, "x999");
  reply(id, approved);
  await written;
  expect(world.written()).toBe("hello1");
});

test.for<readonly [string, string | object]>([
  ["deep", `{"jsonrpc":"2.0","id":"bad","method":5,"params":${"[".repeat(8000)}${"]".repeat(8000)}}`],
  ["wide", { id: "bad", method: "session/prompt", params: { sessionId: "x", prompt: Array(10_000).fill({ type: "bad" }) } }],
])("a message that is too %s is answered, and ends no session", async ([, message]) => {
  const { raw, begin, prompt, question, reply, world } = await connect();
  const written = prompt(await begin(), "write it");
  const { id } = await question();
  raw.send(message);
  expect(await answerOf(raw, "bad")).toMatchObject({ error: { code: expect.any(Number) } });
  reply(id, approved);
  await written;
  expect(world.written()).toBe("hello1");
});

test("a line that is too long is answered, and ends no session", { timeout: 60_000 }, async () => {
  const { world, raw, begin, prompt, question, reply } = await connect();
  const sessionId = await begin();
  const written = prompt(sessionId, "write it");
  const { id } = await question();
  raw.send({ id: "long", method: "session/prompt", params: { sessionId, prompt: "x".repeat(34_000_000) } });
  expect(await answerOf(raw, "long")).toMatchObject({ error: { message: expect.stringContaining("33554432 bytes") } });
  reply(id, approved);
  await written;
  expect(world.written()).toBe("hello1");
  expect(raw.stderr()).toContain("it is left out");
});

test("a reply that is too long approves nothing, and its message ends", { timeout: 60_000 }, async () => {
  const { world, raw, begin, prompt, question } = await connect();
  const answered = prompt(await begin(), "write it");
  const { id } = await question();
  raw.send({ id, result: { ...approved, more: "x".repeat(34_000_000) } });
  await answered;
  expect(world.written()).toBe(undefined);
});

test("an exception in a timer of a tool ends its message, and no other session; no tool reads the protocol", async () => {
  const { world, begin, prompt, question, reply } = await connect();
  const written = prompt(await begin(), "write it");
  const { id } = await question();
  expect(await prompt(await begin(), "burst it")).toMatchObject({
    error: { message: expect.stringContaining("burst in a timer") },
  });
  expect(await prompt(await begin(), "steal it")).toMatchObject({ result: { stopReason: "end_turn" } });
  reply(id, approved);
  await written;
  expect(world.written()).toBe("hello1");
});

test("a signal ends the command with its code", async () => {
  const { raw } = await connect();
  raw.child.kill("SIGTERM");
  expect(await raw.ended).toBe(143);
});

test("a conversation that is being answered is not loaded anew, so a cancel reaches its question", async () => {
  const { world, raw, begin, prompt, question, reply } = await connect();
  await prompt(await begin(), "hello");
  const { result } = await raw.request("session/list", {}).answer;
  const [{ sessionId } = { sessionId: "" }] = (result?.["sessions"] ?? []) as { readonly sessionId: string }[];
  const load = () => raw.request("session/load", { sessionId, cwd: world.folder, mcpServers: [] }).answer;
  expect(await load()).toMatchObject({ result: {} });
  const written = prompt(sessionId, "write it");
  const { id } = await question();
  expect(await load()).toMatchObject({ error: { message: expect.stringContaining("is being answered") } });
  raw.send({ method: "session/cancel", params: { sessionId } });
  reply(id, approved);
  expect(await written).toMatchObject({ result: { stopReason: "cancelled" } });
  expect(world.written()).toBe(undefined);
});

test("a question that nobody answers for --approval-timeout seconds is denied", async () => {
  const { world, begin, prompt, question, reply } = await connect("--approval-timeout", "1");
  const answered = prompt(await begin(), "write it");
  const { id } = await question();
  expect(await answered).toMatchObject({ result: { stopReason: "end_turn" } });
  reply(id, approved);
  expect(world.written()).toBe(undefined);
});

test("a question is a block of code, under a title without words of the model; ids of calls are those of one message", async () => {
  const { begin, prompt, question, reply } = await connect();
  const sessionId = await begin();
  const ids: unknown[] = [];
  for (const count of [1, 2]) {
    const answered = prompt(sessionId, "write it");
    const { id, params } = await question(({ params: asked }) => JSON.stringify(asked).includes(`hello${count}`));
    const call = params?.["toolCall"] as Readonly<Record<string, unknown>>;
    expect(call["title"]).toBe("main > write_file#0");
    const [{ content } = { content: { text: "" } }] = call["content"] as { readonly content: { readonly text: string } }[];
    expect(content.text).toMatch(/^(`{3,})\n.*hello.*\n\1\n$/s);
    ids.push(call["toolCallId"]);
    reply(id, denied);
    await answered;
  }
  expect(new Set(ids).size).toBe(2);
});

function answerOf({ find }: RawClient, id: string): Promise<RawMessage> {
  return find((message) => message.id === id && message.method === undefined);
}
