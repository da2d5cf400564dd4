import { expect, test } from "vitest";
import type { Message } from "../../protocol/message.ts";
import { toPrompt } from "./to-prompt.ts";

test("each message is converted once", () => {
  const first: Message = { role: "user", parts: [{ type: "text", text: "Hi" }] };
  const second: Message = { role: "assistant", parts: [{ type: "text", text: "Ho" }] };
  const one = toPrompt([], [first]);
  const two = toPrompt(["Sys"], [first, second]);
  expect(two[1]).toBe(one[0]);
  expect(two.map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
});

test("base64 is passed on as it is", () => {
  const data = Buffer.alloc(100_000, 7).toString("base64");
  const part = { type: "file", name: "a.pdf", mediaType: "application/pdf", bytes: 100_000, sha256: "", data } as const;
  const [message] = toPrompt([], [{ role: "user", parts: [part] }]);
  expect(message?.content).toEqual([
    { type: "file", filename: "a.pdf", mediaType: "application/pdf", data: { type: "data", data } },
  ]);
});

test("arguments that are no object are shown as what they are", () => {
  const call = { type: "tool-call", id: "1", name: "t", args: [1, 2] } as const;
  const [message] = toPrompt([], [{ role: "assistant", parts: [call] }]);
  expect(message?.content).toMatchObject([{ input: { invalid_arguments: [1, 2] } }]);
});
