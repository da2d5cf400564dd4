import { describe } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import type { ScriptedReply } from "../../src/models/scripted/script.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { type Act, type Subject, testModel } from "./conformance.ts";
import { type Canned, type Dialect, dialects } from "./dialects.ts";
import { sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";

for (const subject of [scriptedSubject(), ...dialects.map(wireSubject)]) {
  describe(`a model of ${subject.name}`, () => testModel(subject));
}

function scriptedSubject(): Subject {
  return {
    name: "scripted",
    canSendInvalidArgs: () => true,
    async create(acts) {
      let index = 0;
      const model = scriptedModel(() => {
        const act = acts[index++];
        return act === "hang" ? new Promise(() => undefined) : act && toReply(act);
      });
      return { model, async [Symbol.asyncDispose]() {} };
    },
  };
}

function toReply(act: Exclude<Act, "hang">): ScriptedReply {
  if ("refuse" in act) {
    const { status, retryAfter = 0 } = act.refuse;
    return { error: { code: "rate_limit", status, retryAfterMilliseconds: retryAfter * 1000 } };
  }
  return {
    ...(act.text ? { text: act.text } : {}),
    ...(act.reasoning ? { reasoning: act.reasoning.text } : {}),
    ...(act.calls ? { calls: act.calls.map(({ tool, args }) => ({ tool, ...readArgs(args) })) } : {}),
    usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 },
  };
}

function readArgs(text: string) {
  try {
    return { args: JSON.parse(text) };
  } catch {
    return { invalidArgs: text };
  }
}

function wireSubject(dialect: Dialect): Subject {
  return {
    name: dialect.name,
    // In Anthropic's whole answers the arguments are JSON themselves.
    canSendInvalidArgs: (streaming) => streaming || dialect.name !== "anthropic",
    async create(acts) {
      const server = await startServer((response, request, index) => {
        const act = acts[index] ?? { text: "one request too many" };
        if (act === "hang")
          return request.body.stream ? sendEvents(response, dialect.events({ text: "Hi" }).slice(0, 3), false) : undefined;
        if ("refuse" in act) {
          const { status, retryAfter } = act.refuse;
          return sendJson(response, dialect.error("Slow down"), status, { "retry-after": String(retryAfter) });
        }
        return request.body.stream ? sendEvents(response, dialect.events(act)) : sendJson(response, dialect.body(act as Canned));
      });
      const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
      return { model, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
  };
}
