import { expect, test } from "vitest";
import { z } from "zod";
import { type ApprovalRequest, tool } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

const files = { "main.worker": worker("sandbox: { paths: {} }") };
const model = ({ lastUserText }: { lastUserText(): string }) => `about ${lastUserText()}`;

test("the entry is not asked for, unless the policy says so", async () => {
  const { result, journal } = await play({ files, model, request: { input: "x" } });
  expect(result?.output).toBe("about x");
  expect(journal.some(({ type }) => type === "verdict")).toBe(false);
});

test("a gated entry asks before anything else, and begins with the input that was approved", async () => {
  const asked: ApprovalRequest[] = [];
  const approver = async (request: ApprovalRequest) => {
    asked.push(request);
    return { type: "approve", args: { input: "y" } } as const;
  };
  const { result, model: played } = await play({
    ...{ files, model, request: { input: "x" } },
    approval: { mode: "prompt", approver, gateEntry: true },
  });
  expect(asked.map(({ tool: name, args, callPath }) => ({ name, args, callPath }))).toContainEqual({
    ...{ name: "main", args: { input: "x" }, callPath: "main" },
  });
  expect(asked[0]?.description).toBe('Start the worker main (test:model) with {"input":"x"}');
  expect(result?.output).toBe("about y");
  expect(played.requests).toHaveLength(1);
});

test("a denial ends the run before a model is asked", async () => {
  const { error, model: played } = await play({
    ...{ files, model, request: { input: "x" } },
    approval: { mode: "prompt", gateEntry: true },
  });
  expect(error).toMatchObject({ code: "denied", run: { denied: [{ tool: "main" }] } });
  expect(played.requests).toEqual([]);
});

test.each([
  ["allow", undefined],
  ["block", { code: "denied" }],
] as const)("a rule can %s it", async (effect, expected) => {
  const rules = [{ effect, rule: "main(input=x*)" }];
  const { error } = await play({
    ...{ files, model, request: { input: "xyz" } },
    approval: { mode: "prompt", rules, gateEntry: true },
  });
  if (expected) expect(error).toMatchObject(expected);
  else expect(error).toBeUndefined();
});

test("an entry that is code asks, too, and its calls are asked for as ever", async () => {
  const asked: string[] = [];
  const tools = {
    main: async (_: unknown, { call }: { call(name: string, input: object): Promise<unknown> }) => call("shout", { text: "x" }),
    shout: tool({ input: z.object({ text: z.string() }), run: ({ text }) => text.toUpperCase() }),
  };
  const approver = async (request: ApprovalRequest) => {
    asked.push(`${request.tool} ${request.callPath}`);
    return { type: "approve" } as const;
  };
  const { result, error } = await play({
    ...{ files, model, tools },
    approval: { mode: "prompt", approver, gateEntry: true },
    request: { entry: "tools.ts:main", input: "x" },
  });
  expect(error).toBeUndefined();
  expect(result?.output).toBe("X");
  expect(asked).toEqual(["main main", "shout main/0.shout"]);
});
