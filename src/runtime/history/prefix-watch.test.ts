import { expect, test } from "vitest";
import { noUsage } from "../../protocol/usage.ts";
import { PrefixWatch } from "./prefix-watch.ts";

const tool = (name: string, description = "d", type = "object") => ({ name, description, inputSchema: { type } });
const [a, b] = [tool("a"), tool("b")];
const written = { ...noUsage, requests: 1, cacheWriteTokens: 2000 };
const beginning = { system: ["You help.", "Today is 2026-11-22, 14:05."], tools: [a, b] };

test.each([
  ["the order of the tools changed, from `b` on", { ...beginning, tools: [b, a] }],
  ["the description of the tool `b` changed", { ...beginning, tools: [a, tool("b", "new")] }],
  ["the input schema of the tool `a` changed", { ...beginning, tools: [tool("a", "d", "array"), b] }],
  ["the tool `c` stands where `a` was", { ...beginning, tools: [tool("c"), b] }],
  [
    "the instructions hold a date or a time that changed (line 2: `Today is 2026-11-23, 09:30.`); put what changes into the prompt",
    { ...beginning, system: ["You help.", "Today is 2026-11-23, 09:30."] },
  ],
  [
    "the instructions changed (line 1: `You are rude.`); put what changes into the prompt",
    { ...beginning, system: ["You are rude."] },
  ],
])("%s", (change, now) => {
  const watch = new PrefixWatch();
  expect(watch.note("main", beginning, written)).toBeUndefined();
  expect(watch.note("other", now, written)).toBeUndefined();
  expect(watch.note("main", now, written)).toBe(change);
  expect(watch.note("main", beginning, written)).toBeUndefined();
});

test("nothing is said of what is the same, of tools that come or go at the end, and without a cache", () => {
  const watch = new PrefixWatch();
  for (const tools of [
    [a, b],
    [a, b],
    [a, b, tool("read_result")],
    [a, b],
  ])
    expect(watch.note("main", { ...beginning, tools }, written)).toBeUndefined();
  expect(watch.note("uncached", beginning, noUsage)).toBeUndefined();
  expect(watch.note("uncached", { ...beginning, tools: [b, a] }, noUsage)).toBeUndefined();
});
