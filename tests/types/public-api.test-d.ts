// Compiled by `npm run types`, never run: each expected error must be one, or the compiler complains.
import { type ApprovalDecision, preApproved, run, type Tool, tool, toolset } from "llm-do";
import { defineScript, scriptedModel } from "llm-do/testing";
import { z } from "zod";

const approval = { mode: "prompt" } as const;

run({ target: ".", approval });
// @ts-expect-error no run has a default policy
run({ target: "." });
// @ts-expect-error a mode is not a policy
run({ target: ".", approval: "prompt" });

// The arguments of a tool are what its schema makes of them.
export const slug: Tool = tool({
  input: z.object({ title: z.string(), limit: z.coerce.number().default(60) }),
  run: ({ title, limit }, runtime) => {
    runtime.progress(title);
    const exact: string = title;
    const defaulted: number = limit;
    // @ts-expect-error a string has no such method
    title.toFixed();
    return exact.slice(0, defaulted);
  },
});

// @ts-expect-error the schema has no such field
tool({ input: z.object({ title: z.string() }), run: ({ name }) => name });
// @ts-expect-error a tool needs a schema
tool({ run: () => 1 });
// @ts-expect-error "never" is no default that an author can want
tool({ input: z.object({}), approval: "never", run: () => 1 });

// A JSON Schema is data: its fields are unknown.
tool({
  input: { type: "object", properties: { title: { type: "string" } } },
  // @ts-expect-error unknown until it is looked at
  run: ({ title }) => title.length,
});

tool({
  input: z.object({}),
  calls: ["reader"],
  replayable: true,
  run: async (_args, { step, scopes }) => {
    const { paths } = await step("list", () => scopes.list("notes", { pattern: "*", maxEntries: 9 }));
    const count = await step("count", () => paths.length);
    const one = await step("one", async () => ({ name: "a", tags: ["b"], size: count, ...(count > 1 ? { more: true } : {}) }));
    // @ts-expect-error a date becomes a text in JSON
    await step("date", () => new Date());
    // @ts-expect-error a function is no JSON
    await step("function", () => ({ run: () => 1 }));
    // @ts-expect-error neither is a map
    await step("map", async () => new Map([["a", 1]]));
    return [one.name.length, count.toFixed(), one.tags];
  },
});

toolset({
  name: "market_data",
  config: z.object({ region: z.string() }),
  tools: ({ region }) => [tool({ name: `prices_${region}`, input: z.object({}), run: () => 1 })],
  needsApproval: ({ config }) => preApproved(`prices of ${config.region} are public`),
});

export const approve: ApprovalDecision = { type: "approve", args: { path: "a.md" } };
// @ts-expect-error a boolean is not a decision
export const boolean: ApprovalDecision = true;
// @ts-expect-error a denial is not remembered
export const remembered: ApprovalDecision = { type: "deny", remember: "run" };

export const calling = defineScript((request) => {
  if (request.turn > 1) return "done";
  return {
    calls: [
      { tool: "researcher", args: { topic: "x" } },
      { tool: "slug", args: { title: "y", words: [1] } },
    ],
  };
});
export const script = defineScript((request) => (request.hasTool("slug") ? { calls: [{ tool: "slug" }] } : "done"));
scriptedModel(["first", { json: { verdict: "go" } }]);
// @ts-expect-error a reply is text or an object
scriptedModel([1]);
