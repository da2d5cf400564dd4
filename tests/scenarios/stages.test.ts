import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { preApproved, tool, toolset } from "../../src/index.ts";
import { play, worker } from "./harness.ts";
import { type Stage, type StageWatch, watchStages } from "./stages.ts";

/*
 * Holds the runtime to few turns: how many of our functions a model request, a tool call and a worker's call pass, counted in a real
 * run. A function that only passes something on costs a reader as much as one that does something.
 */
let watch: StageWatch;

beforeAll(async () => {
  watch = watchStages();
  let isPlayed = false;
  const mark = (name: string) => {
    if (!isPlayed) watch.mark(name);
  };
  const probe = tool({
    name: "probe",
    input: z.looseObject({}).refine(() => {
      mark("validate");
      return true;
    }),
    run: () => {
      mark("execute");
      return "ok";
    },
  });
  const probes = toolset({
    name: "probes",
    tools: () => [probe],
    prepare: async ({ args }) => {
      mark("prepare");
      return { canonicalArgs: args, targets: ["probe"], facts: {} };
    },
    needsApproval: () => {
      mark("judge");
      return preApproved();
    },
  });
  const { result } = await play({
    files: {
      "main.worker": worker('toolsets: { probes: {}, child: { _approval_config: { "*": { pre_approved: true } } } }'),
      "child.worker": worker("description: c"),
    },
    tools: { probes },
    onPlayed: () => {
      isPlayed = true;
    },
    model: ({ worker: name, turn }) => {
      mark(`request of ${name}`);
      if (name === "child" || turn > 1) return "done";
      return { calls: [{ tool: "probe" }, { tool: "child", args: { input: "x" } }] };
    },
    request: { input: "x" },
  });
  expect(result?.output).toBe("done");
});

afterAll(() => watch.stop());

test("a model request passes at most 9 of our functions, from the front door to the model", () => {
  expectAtMost(9, stagesOf("request of main"));
});

test("a tool call passes at most 14, from the turn to the tool, with those that come before its execution", () => {
  const before = ["validate", "prepare", "judge", "execute"].flatMap((point) => fromTurn(stagesOf(point)));
  expectAtMost(14, [...new Set(before)]);
});

test("a worker's call passes at most 12, from the caller's turn to the model of the worker", () => {
  expectAtMost(12, fromTurn(stagesOf("request of child")));
});

/** Without what adapts a model and a schema: that is the provider's and the tool's side. */
function stagesOf(point: string): readonly Stage[] {
  return (watch.stages.get(point) ?? []).filter((stage) => !/^(?:models|schema)\//.test(stage));
}

function fromTurn(stages: readonly Stage[]): readonly Stage[] {
  return stages.slice(stages.indexOf("runtime/agent-loop:runTurns"));
}

/** Shows the stages where there are more. Fewer than three are not the way of anything: nothing was watched. */
function expectAtMost(limit: number, stages: readonly Stage[]): void {
  expect(stages.length).toBeGreaterThan(3);
  expect(stages.length > limit ? stages : []).toEqual([]);
}
