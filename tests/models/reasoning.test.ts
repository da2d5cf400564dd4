import { expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import type { AssistantMessage } from "../../src/protocol/message.ts";
import { answerCalls, generate, listFiles, request, user } from "./fixtures.ts";
import { sendJson, startServer, testEnvironment } from "./local-server.ts";
import { reasoningRows } from "./reasoning-rows.ts";

test.each(reasoningRows)("%s gets the reasoning of its last answer back", async (name, answer, returned) => {
  await using server = await startServer((response) => sendJson(response, answer));
  const prefix = `${name.toUpperCase().replace("-", "_")}_BASE_URL`;
  const environment = testEnvironment({ [prefix]: server.url, [`${prefix}_KEY`]: "key-of-the-test" });
  const model = await createModelResolver(environment)(`${name}:some-model`);
  const first = request([user("Look")], { tools: [listFiles] });
  const { response } = await generate(model, first, false);
  // As a journal gives it back.
  const message = JSON.parse(JSON.stringify(response.message)) as AssistantMessage;
  await generate(model, { ...first, messages: [...first.messages, message, answerCalls(message)] }, false);
  expect(server.requests[1]?.body).toMatchObject(returned);
});
