import { describe, expect, test } from "vitest";
import { z } from "zod";
import { exportedToolset } from "./exported-toolset.ts";
import { tool, toolset } from "./tool.ts";
import { toolName } from "./tool-name.ts";
import type { WorkerRuntime } from "./toolset.ts";

const act = tool({ name: "act", input: z.object({}), run: () => "ok" });
const acts = toolset({ name: "acts", tools: () => [act] });
const scope = { worker: "main", readable: [], writable: [], networkEnabled: false };

describe("an export of code", () => {
  const kinds: Record<string, [unknown, string[] | undefined]> = {
    "a tool": [act, ["it"]],
    "a toolset": [acts, ["act"]],
    "a factory": [() => acts, ["act"]],
    "an async factory": [async () => acts, ["act"]],
    "a class": [
      class {
        constructor() {
          Object.assign(this, acts);
        }
      },
      ["act"],
    ],
    "a map of tools in the AI SDK's form": [
      { look: { description: "Looks.", inputSchema: z.object({}), execute: () => 1 } },
      ["look"],
    ],
    "one whose schemas are wrapped": [{ look: { inputSchema: { jsonSchema: { type: "object" } }, execute: () => 1 } }, ["look"]],
    "a map of our own tools and others": [
      { act, other: tool({ input: z.object({}), run: () => 1 }), look: { inputSchema: z.object({}), execute: () => 1 } },
      ["act", "other", "look"],
    ],
    "a map of tools that are functions": [
      { scrape: Object.assign(() => 1, { inputSchema: z.object({}), execute: () => 1 }) },
      ["scrape"],
    ],
    "a class with a method `tools`": [
      class {
        tools() {
          return [act];
        }
      },
      ["act"],
    ],
    "a bare function": [() => 5, undefined],
    "a map of anything else": [{ look: { execute: 1 } }, undefined],
    "an empty map": [{}, undefined],
    "a text": ["tool", undefined],
  };
  test.each(Object.entries(kinds))("%s", async (_, [value, names]) => {
    const found = await exportedToolset("it", value);
    expect(found?.toolset.tools({}, scope).map(({ name }) => name)).toEqual(names);
  });

  test.each<[string, object, RegExp]>([
    ["has no `execute`", { inputSchema: z.object({}) }, /its member `other` has no `execute`/],
    ["is no tool", { text: "a" }, /its member `other` is no tool/],
  ])("a map of tools of which one %s names that one", async (_, other, why) => {
    const look = { inputSchema: z.object({}), execute: () => 1 };
    await expect(exportedToolset("it", { look, other })).rejects.toThrow(why);
    await expect(exportedToolset("it", { act, other })).rejects.toThrow(why);
  });

  test("a foreign tool that streams gives its last value", async () => {
    const look = {
      inputSchema: z.object({}),
      execute: async function* () {
        yield "first";
        yield "last";
      },
    };
    const [found] = (await exportedToolset("it", { look }))?.toolset.tools({}, scope) ?? [];
    const runtime = { signal: new AbortController().signal, callPath: "main" } as WorkerRuntime;
    expect(await found?.execute({}, runtime)).toBe("last");
  });

  test("a foreign tool asks, because nothing is known of it", async () => {
    const found = await exportedToolset("it", { look: { inputSchema: z.object({}), execute: () => 1 } });
    expect(found?.toolset.needsApproval).toBeUndefined();
    expect(found?.toolset.tools({}, scope)[0]?.approval).toBeUndefined();
  });
});

test("a tool's name is cut with a hash where it would be too long, and stays itself and unique", () => {
  expect(toolName(undefined, "a")).toBe("a");
  expect(toolName("p", "a")).toBe("p_a");
  const long = [toolName("p", "x".repeat(80)), toolName("p", `${"x".repeat(79)}y`)];
  expect(new Set(long).size).toBe(2);
  for (const name of long) expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_-]{63}$/);
});
