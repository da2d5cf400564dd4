import { expect, test } from "vitest";
import { scriptedModel } from "./scripted-model.ts";

const request = { system: [], messages: [], tools: [], settings: {} };
const options = { signal: new AbortController().signal, call: { worker: "main", callPath: "main", turn: 1 } };

test("plays a list, one reply a request, and keeps what it was asked", async () => {
  const model = scriptedModel(["One", { error: { code: "overloaded" } }, { text: "Two" }]);
  expect((await model.generate(request, options)).message.parts).toEqual([{ type: "text", text: "One" }]);
  await expect(model.generate(request, options)).rejects.toMatchObject({ code: "overloaded", retryable: true });
  expect((await model.generate(request, options)).message.parts).toEqual([{ type: "text", text: "Two" }]);
  await expect(model.generate(request, options)).rejects.toThrow("at most 3 requests");
  expect(model.requests).toHaveLength(4);
});

test("plays a function", async () => {
  const model = scriptedModel(({ turn, worker }) => `${worker} ${turn}`, "scripted:mine");
  expect(model.id).toBe("scripted:mine");
  expect((await model.generate(request, options)).message.parts).toEqual([{ type: "text", text: "main 1" }]);
});
