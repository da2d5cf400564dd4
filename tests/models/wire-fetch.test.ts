import { expect, test } from "vitest";
import { toPatience } from "../../src/models/patience.ts";
import { chatRepair } from "../../src/models/wire/chat-repair.ts";
import { createWireFetch } from "../../src/models/wire/create-wire-fetch.ts";

test.each([
  ["it last", '{"a":1,"stream":true}', true],
  ["it alone", '{"stream":true}', true],
  ["it first", '{"stream": true, "a": 1}', true],
  ["it within a member", '{"a":{"stream":true}}', false],
  ["it within a text", '{"a":"{\\"stream\\":true}"}', false],
  ["a name that ends so", '{"a,\\"stream":true}', false],
  ["it switched off", '{"a":"\\"stream\\":true","stream":false}', false],
])("answers a request with %s with events, or with a whole answer", async (_name, body, isStream) => {
  const whole = { choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }] };
  const fetch = createWireFetch(async () => Response.json(whole), { repair: chatRepair, patience: toPatience({}) });
  const answered = await fetch("http://test/", { method: "POST", body });
  expect((await answered.text()).startsWith("data: ")).toBe(isStream);
});
