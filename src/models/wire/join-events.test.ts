import { expect, test } from "vitest";
import { chatRepair } from "./chat-repair.ts";
import { splitText } from "./join-events.ts";
import { type Body, repairEvents } from "./repair.ts";

/** The events that a library of chat completions gets where these come in one packet. */
async function sendAtOnce(events: readonly object[]): Promise<readonly Body[]> {
  async function* packet() {
    yield Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  }
  let sent = "";
  for await (const piece of repairEvents(packet(), chatRepair)) sent += Buffer.from(piece).toString();
  return sent
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.slice("data: ".length)));
}

const chunk = (delta: object, more: object = {}) => ({ choices: [{ index: 0, delta, finish_reason: null, ...more }] });
const piece = (index: number, args: string) => chunk({ tool_calls: [{ index, function: { arguments: args } }] });

test("texts that follow each other are one event, and can be told apart again", async () => {
  const [event, ...others] = await sendAtOnce(["Hel", "lo, ", "you"].map((content) => chunk({ content })));
  expect(others).toEqual([]);
  expect(event).toMatchObject(chunk({ content: "Hello, you" }));
  expect(splitText("Hello, you", event)).toEqual(["Hel", "lo, ", "you"]);
  expect(splitText("another text", event)).toEqual(["another text"]);
});

test.each<readonly [string, readonly object[]]>([
  ["answer and reasoning", [chunk({ reasoning: "a" }), chunk({ content: "b" })]],
  ["two members at once", [chunk({ content: "a", reasoning: "b" }), chunk({ content: "c", reasoning: "d" })]],
  ["details of the reasoning", [1, 2].map((index) => chunk({ reasoning: "a", reasoning_details: [{ index }] }))],
  ["a refusal", [chunk({ refusal: "a" }), chunk({ refusal: "b" })]],
  ["the end", [chunk({ content: "a" }), chunk({ content: "b" }, { finish_reason: "stop" })]],
  ["a usage", [chunk({ content: "a" }), { ...chunk({ content: "b" }), usage: { prompt_tokens: 1 } }]],
  ["an error", [chunk({ content: "a" }), { ...chunk({ content: "b" }), error: { message: "broken" } }]],
  ["two calls", [piece(0, "a"), piece(1, "b")]],
  [
    "two pieces in one event",
    [1, 2].map(() => chunk({ tool_calls: [piece, piece].map(() => ({ index: 0, function: { arguments: "a" } })) })),
  ],
  ["the name of a call", [piece(0, "a"), chunk({ tool_calls: [{ index: 0, function: { name: "n", arguments: "b" } }] })]],
  ["arguments without a place", ["a", "b"].map((args) => chunk({ tool_calls: [{ function: { arguments: args } }] }))],
])("%s stays apart", async (_what, events) => {
  expect(await sendAtOnce(events)).toMatchObject(events);
});

test("pieces of one call's arguments are one event", async () => {
  expect(await sendAtOnce([piece(1, '{"a"'), piece(1, ":1}")])).toMatchObject([piece(1, '{"a":1}')]);
});
