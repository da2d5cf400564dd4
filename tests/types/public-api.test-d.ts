// Compiled by `npm run types`, never run: each expected error must be one, or the compiler complains.
import {
  type ApprovalDecision,
  compile,
  defineWorker,
  fork,
  preApproved,
  type RunOutput,
  type RunRequest,
  resume,
  run,
  start,
  type Tool,
  tool,
  toolset,
} from "llm-do";
import { defineScript, scriptedModel } from "llm-do/testing";
import * as v from "valibot";
import { z } from "zod";
import { z as z3 } from "zod3";

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

const grader = defineWorker({
  name: "grader",
  instructions: "x",
  output: z.object({ grade: z.number() }),
  sandbox: { paths: {} },
});
const writer = defineWorker({ name: "writer", instructions: "x", model: "scripted:a.ts" });

type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles if `value` has exactly the type `Expected`. */
function expectType<Expected>() {
  return <Actual>(_value: Actual, _same: IsSame<Actual, Expected>) => undefined;
}
const expectGrade = expectType<{ grade: number }>();
const expectText = expectType<string>();
const expectJson = expectType<RunOutput["output"]>();

// The output has the type of the entry's output schema, if the run was not stopped before its end.
export async function typedOutputs(request: RunRequest, entry: string) {
  const { output, stopReason } = await run({ approval, workers: [grader, writer] });
  // @ts-expect-error the text of a limit has no grade
  output.grade;
  if (stopReason === "done") expectGrade(output, true);
  else expectType<string | { grade: number }>()(output, true);

  const named = await run({ approval, workers: [grader, writer], entry: "writer" });
  expectText(named.output, true);
  const second = await run({ approval, workers: [writer, grader], entry: "grader" });
  if (second.stopReason === "done") expectGrade(second.output, true);
  const started = await start({ approval, workers: [grader] }).result;
  if (started.stopReason === "done") expectGrade(started.output, true);
  const resumed = await resume({ approval, workers: [grader], run: "a" });
  if (resumed.stopReason === "done") expectGrade(resumed.output, true);
  const forked = await fork({ approval, workers: [grader], run: "a" });
  if (forked.stopReason === "done") expectGrade(forked.output, true);

  // Nothing coerces or transforms: the value is the JSON that the schema takes.
  const length = defineWorker({ name: "a", instructions: "x", output: z.string().transform((text) => text.length) });
  expectText((await run({ approval, workers: [length] })).output, true);
  const others = [z3.object({ grade: z3.number() }), v.object({ grade: v.number() })] as const;
  const zod3 = await run({ approval, workers: [defineWorker({ name: "a", instructions: "x", output: others[0] })] });
  if (zod3.stopReason === "done") expectGrade(zod3.output, true);
  const valibot = await run({ approval, workers: [defineWorker({ name: "a", instructions: "x", output: others[1] })] });
  if (valibot.stopReason === "done") expectGrade(valibot.output, true);

  // Types that do not tell the schema leave the output as it is.
  const json = defineWorker({ name: "a", instructions: "x", output: { type: "object", required: ["grade"] } });
  expectJson((await run({ approval, workers: [json] })).output, true);
  const extending = defineWorker({ name: "a", instructions: "x", extends: "base" });
  expectJson((await run({ approval, workers: [extending] })).output, true);
  expectJson((await run({ approval, workers: [grader], entry })).output, true);
  expectJson((await run({ approval, workers: [grader], entry: "tools.ts:main" })).output, true);
  expectJson((await run({ ...request, workers: [grader] })).output, true);
  expectJson((await run(request)).output, true);
  expectJson((await run({ target: ".", approval })).output, true);
  const { program } = await compile({ workers: [grader], toRun: true });
  if (program) expectJson((await run({ program, approval })).output, true);
  // @ts-expect-error an option that is unknown
  run({ approval, workers: [grader], aproval: approval });
}
