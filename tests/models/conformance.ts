import { expect, test } from "vitest";
import { type Model, ModelError } from "../../src/models/model.ts";
import type { Message } from "../../src/protocol/message.ts";
import type { Canned } from "./dialects.ts";
import { answerCalls, file, generate, listFiles, options, readFile, request, user } from "./fixtures.ts";

/** What a provider's model does next: an answer, a refusal, or an answer that does not come to its end. */
export type Act = Canned | { readonly refuse: { readonly status: number; readonly retryAfter?: number } } | "hang";

/** One implementation of `Model`, made to act as a list says, one act a request. */
export interface Subject {
  readonly name: string;
  /** Whether its wire format can carry arguments that are no JSON, streamed or not. */
  canSendInvalidArgs(streaming: boolean): boolean;
  create(acts: readonly Act[]): Promise<{ readonly model: Model } & AsyncDisposable>;
}

/** What every implementation of `Model` keeps to. Called inside `describe`, once for each. */
export function testModel(subject: Subject): void {
  for (const streaming of [false, true]) {
    const title = (text: string) => `${text}${streaming ? ", streamed" : ""}`;
    test(title("answers with text"), () => answersWithText(subject, streaming));
    test(title("gives the same messages for the same scenario"), () => playsScenario(subject, streaming));
    test(title("keeps ten turns of tools in order"), () => playsTenTurns(subject, streaming));
    test.skipIf(!subject.canSendInvalidArgs(streaming))(title("passes on arguments that are no JSON"), () =>
      passesInvalidArguments(subject, streaming),
    );
    test(title("rejects with a ModelError and does not retry"), () => rejectsOnce(subject, streaming));
    test(title("rejects with the reason of an abort"), () => rejectsOnAbort(subject, streaming));
  }
}

const calls = [
  { id: "call_1", tool: "read_file", args: '{"path":"a.txt","limit":3}' },
  { id: "call_2", tool: "list_files", args: "{}" },
];

async function answersWithText(subject: Subject, streaming: boolean): Promise<void> {
  await using made = await subject.create([{ text: "Grüße 👋 an alle" }]);
  const { response, deltas } = await generate(made.model, request([user("Hi")]), streaming);
  expect(withoutProviderData(response.message)).toEqual({
    role: "assistant",
    parts: [{ type: "text", text: "Grüße 👋 an alle" }],
  });
  expect(response.usage).toEqual({ requests: 1, inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 0 });
  expect(response.finish).toBe("stop");
  expect(deltas).toBe(streaming ? "Grüße 👋 an alle" : "");
}

async function playsScenario(subject: Subject, streaming: boolean): Promise<void> {
  const reasoning = { text: "I need two tools", signature: "c2lnbmVk" };
  await using made = await subject.create([{ reasoning, text: "Let me look.", calls }, { text: "Done." }]);
  const first = request([user("Look", file("a.pdf", "application/pdf", "%PDF-1.7"))], {
    system: ["You read.", "Be brief."],
    tools: [readFile, listFiles],
  });
  freeze(first);
  const answer = await generate(made.model, first, streaming);
  expect(answer.response.finish).toBe("tool-calls");
  const results = answerCalls(answer.response.message);
  const last = await generate(
    made.model,
    { ...first, messages: [...first.messages, answer.response.message, results] },
    streaming,
  );
  const messages = [answer.response.message, results, last.response.message].map(withoutProviderData);
  expect(messages).toEqual([
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "I need two tools" },
        { type: "text", text: "Let me look." },
        { type: "tool-call", id: "call_1", name: "read_file", args: { path: "a.txt", limit: 3 } },
        { type: "tool-call", id: "call_2", name: "list_files", args: {} },
      ],
    },
    {
      role: "tool",
      parts: [
        {
          type: "tool-result",
          id: "call_1",
          name: "read_file",
          result: { ok: true, value: { got: { path: "a.txt", limit: 3 } } },
        },
        { type: "tool-result", id: "call_2", name: "list_files", result: { ok: true, value: { got: {} } } },
      ],
    },
    { role: "assistant", parts: [{ type: "text", text: "Done." }] },
  ]);
}

async function playsTenTurns(subject: Subject, streaming: boolean): Promise<void> {
  const acts = Array.from({ length: 10 }, (_, index) => ({
    calls: [{ id: `call_${index + 1}`, tool: "read_file", args: JSON.stringify({ path: `${index}.txt` }) }],
  }));
  await using made = await subject.create([...acts, { text: "All read." }]);
  const messages: Message[] = [user("Read ten files")];
  for (let turn = 1; turn <= 11; turn++) {
    const { response } = await generate(made.model, request([...messages], { tools: [readFile] }), streaming);
    messages.push(response.message);
    if (turn <= 10) messages.push(answerCalls(response.message));
  }
  const paths = messages.flatMap((message) => (message.role === "tool" ? message.parts : [])).map((part) => part.result);
  expect(paths).toEqual(Array.from({ length: 10 }, (_, index) => ({ ok: true, value: { got: { path: `${index}.txt` } } })));
  expect(messages.at(-1)?.parts).toMatchObject([{ type: "text", text: "All read." }]);
}

async function passesInvalidArguments(subject: Subject, streaming: boolean): Promise<void> {
  await using made = await subject.create([
    { calls: [{ id: "call_1", tool: "read_file", args: '{"path": oops' }] },
    { text: "ok" },
  ]);
  const first = request([user("Read")], { tools: [readFile] });
  const { response } = await generate(made.model, first, streaming);
  const call = { type: "tool-call", id: "call_1", name: "read_file", args: null, invalidArgs: '{"path": oops' };
  expect(withoutProviderData(response.message).parts).toEqual([call]);
  const results: Message = {
    role: "tool",
    parts: [
      {
        type: "tool-result",
        id: "call_1",
        name: "read_file",
        result: { ok: false, error: { error: "no valid JSON", type: "invalid_arguments" } },
      },
    ],
  };
  const next = await generate(made.model, { ...first, messages: [...first.messages, response.message, results] }, streaming);
  expect(next.response.message.parts).toMatchObject([{ text: "ok" }]);
}

async function rejectsOnce(subject: Subject, streaming: boolean): Promise<void> {
  await using made = await subject.create([{ refuse: { status: 429, retryAfter: 7 } }, { text: "Now" }]);
  const error = await generate(made.model, request([user("Hi")]), streaming).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModelError);
  expect(error).toMatchObject({
    code: "rate_limit",
    status: 429,
    retryable: true,
    retryAfterMilliseconds: 7000,
    model: made.model.id,
  });
  const again = await generate(made.model, request([user("Hi")]), streaming);
  expect(again.response.message.parts).toMatchObject([{ text: "Now" }]);
}

async function rejectsOnAbort(subject: Subject, streaming: boolean): Promise<void> {
  await using made = await subject.create(["hang"]);
  const reason = new Error("stopped by a person");
  const aborted = options({ signal: AbortSignal.abort(reason) });
  await expect(made.model.generate(request([user("Hi")]), aborted)).rejects.toBe(reason);
  const controller = new AbortController();
  const running = options({ signal: controller.signal, ...(streaming ? { onDelta: () => undefined } : {}) });
  const pending = made.model.generate(request([user("Hi")]), running);
  setTimeout(() => controller.abort(reason), 40);
  const started = performance.now();
  await expect(pending).rejects.toBe(reason);
  expect(performance.now() - started).toBeLessThan(1000);
}

function withoutProviderData(message: Message): Message {
  return JSON.parse(JSON.stringify(message, (key, value: unknown) => (key === "providerData" ? undefined : value))) as Message;
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
}
