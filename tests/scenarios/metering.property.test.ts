import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type RunError, run, tool } from "../../src/index.ts";
import type { ScriptedReply, ScriptedRequest } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { anthropic } from "../models/dialects.ts";
import type { Recorded } from "../models/local-server.ts";
import { type Failure, startMeteredServer } from "../models/metered-server.ts";
import { readJournal, runsIn } from "../records.ts";
import { play, worker } from "./harness.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 6);
const seed = Number(process.env["LLM_DO_FUZZ_SEED"] ?? 20_261_122);

/** One call of a worker: its turns, each with attempts that fail before the answer, and what that calls. */
interface Plan {
  readonly turns: readonly {
    readonly failures: readonly Failure[];
    readonly looks: number;
    readonly children: readonly Plan[];
  }[];
  /** The last turn fails until nothing is tried any more. */
  readonly dies: boolean;
}

const failure: fc.Arbitrary<Failure> = fc.oneof(
  fc.constantFrom(...[408, 429, 500, 529].map((status) => ({ status }))),
  fc.constant({ broken: true } as const),
);
const planOf = (depth: number): fc.Arbitrary<Plan> =>
  fc.record({
    turns: fc.array(
      fc.record({
        failures: fc.array(failure, { maxLength: 2 }),
        looks: fc.nat({ max: 2 }),
        children: depth > 0 ? fc.array(planOf(depth - 1), { maxLength: 3 }) : fc.constant([]),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    dies: fc.boolean(),
  });

/** Plans by their ids, which the calls carry as input. At most two die: a third would end the run, and abort what runs beside it. */
function number(root: Plan): ReadonlyMap<Plan, string> {
  const ids = new Map<Plan, string>();
  const visit = (plan: Plan): void => {
    ids.set(plan, `plan ${ids.size};`);
    for (const turn of plan.turns) for (const child of turn.children) visit(child);
  };
  visit(root);
  return ids;
}

async function playPlan(root: Plan) {
  const ids = number(root);
  const plans = new Map([...ids].map(([plan, id]) => [id, plan]));
  const dying = new Set([...ids.keys()].filter((plan) => plan !== root && plan.dies).slice(0, 2));
  const attempts = new Map<string, number>();
  const answer = ({ body }: Recorded) => {
    const [id = ""] = /plan \d+;/.exec(JSON.stringify(body.messages[0])) ?? [];
    const plan = plans.get(id);
    if (!plan) throw new Error("a request without a plan");
    const turn = body.messages.filter(({ role }: { role: string }) => role === "assistant").length;
    const attempt = attempts.get(`${id} ${turn}`) ?? 0;
    attempts.set(`${id} ${turn}`, attempt + 1);
    const planned = plan.turns[turn];
    if (!planned) return { text: `done ${id}` };
    if (dying.has(plan) && turn === plan.turns.length - 1) return { broken: true } as const;
    const failed = planned.failures[attempt];
    if (failed) return failed;
    const looks = Array.from({ length: planned.looks }, (_, n) => ({ tool: "look", args: { at: `${id} ${turn} ${n}` } }));
    const children = planned.children.map((child) => ({ tool: "node", args: { input: ids.get(child) } }));
    const calls = [...looks, ...children].map(({ tool: name, args }, n) => ({
      id: `c${turn}_${n}`,
      tool: name,
      args: JSON.stringify(args),
    }));
    return calls.length > 0 ? { text: `turn ${turn}`, calls } : { text: `done ${id}` };
  };
  await using server = await startMeteredServer(answer);
  const look = tool({ input: z.object({ at: z.string() }), approval: "pre-approved", run: ({ at }) => `${at} `.repeat(200) });
  const memory = memoryHost({
    environment: anthropic.variables(server.url),
    fetch: globalThis.fetch,
    files: {
      "/program/node.worker": worker(
        "model_settings: { max_retries: 2 }\ntoolsets: { look: {}, node: { _approval_config: { node: { pre_approved: true } } } }",
        "Work on the plan. ".repeat(300),
      ),
      "/program/tools.ts": "export const look = 0;\n",
    },
    modules: { "/program/tools.ts": { look } },
  });
  const host = { ...memory, clock: { ...memory.clock, sleep: async () => undefined } };
  const approval = { mode: "reject_all" } as const;
  const request = {
    target: "/program/node.worker",
    input: ids.get(root) ?? "",
    model: anthropic.model,
    approval,
    trust: true,
    host,
    deltas: true,
  };
  const usage = await run(request).then(
    (result) => result.usage,
    (error: RunError) => error.run?.usage,
  );
  const { entries } = await readJournal(host, `${runsIn("/program")}/${(await host.files.names(runsIn("/program")))[0]}`);
  return { usage, recorded: entries.at(-1), billed: server.billed };
}

test("metered usage equals the server's own sum, with failures, retries and caches", async () => {
  let [broken, read] = [0, 0];
  await fc.assert(
    fc.asyncProperty(planOf(2), async (plan) => {
      const { usage, recorded, billed } = await playPlan(plan);
      const sum = (member: keyof (typeof billed)[number]) => billed.reduce((total, one) => total + one[member], 0);
      expect(usage).toMatchObject({
        requests: billed.length,
        inputTokens: sum("input") + sum("written") + sum("read"),
        outputTokens: sum("output"),
        cachedInputTokens: sum("read"),
      });
      expect(usage?.cacheWriteTokens ?? 0).toBe(sum("written"));
      expect(usage?.estimatedTokens).toBeUndefined();
      // Dollars for a million tokens: 3 of input, 15 of output.
      expect(usage?.usd).toBeCloseTo(
        (3 * (sum("input") + 1.25 * sum("written") + 0.1 * sum("read")) + 15 * sum("output")) / 1e6,
        9,
      );
      expect(recorded).toMatchObject({ type: "run-end", usage });
      broken += billed.filter(({ output }) => output === 1).length;
      read += sum("read");
    }),
    { numRuns: runs, seed },
  );
  expect(broken).toBeGreaterThan(runs / 4);
  expect(read).toBeGreaterThan(0);
}, 600_000);

/** The runtime's estimate of a request's input. */
function estimateOf({ system, tools, messages }: ScriptedRequest): number {
  const lengthOf = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4);
  const texts = system.reduce((sum, text) => sum + text.length / 4, 0);
  return Math.ceil([...tools, ...messages].reduce((sum, one) => sum + lengthOf(one), texts));
}

describe("50 children on one account", () => {
  const parallel = 8;
  const child = 'toolsets: { filesystem: { _approval_config: { "*": { pre_approved: true } } } }';
  const main = "toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }";

  /** `factor`: how many times the estimate the provider counts for an input. */
  async function spend(limits: { readonly tokens: number } | { readonly usd: number }, factor: number) {
    let [spent, excess] = [0, 0];
    const model = (request: ScriptedRequest): ScriptedReply => {
      const estimate = estimateOf(request);
      const inputTokens = Math.floor(estimate * factor);
      const outputTokens = Math.min(300, request.settings.max_output_tokens ?? 300);
      spent += inputTokens + outputTokens;
      excess = Math.max(excess, inputTokens - estimate);
      const usage = { inputTokens, outputTokens };
      if (request.lastUserText().includes("Give your final answer now")) return { text: "final", usage };
      if (request.worker === "child")
        return request.turn < 4
          ? { calls: [{ tool: "list_files", args: { pattern: `${request.turn}*` } }], usage }
          : { text: "done", usage };
      const calls = Array.from({ length: 50 }, (_, n) => ({ tool: "child", args: { input: `part ${n}` } }));
      return request.turn === 1 ? { calls, usage } : { text: "done", usage };
    };
    const { result, error } = await play({
      files: { "main.worker": worker(main), "child.worker": worker(`description: c\n${child}`) },
      model,
      request: { input: "x", limits: { ...limits, parallel, depth: 2 }, prices: { "*": { input: 1000, output: 1000 } } },
    });
    expect(error).toBeUndefined();
    const { inputTokens = 0, outputTokens = 0, usd } = result?.usage ?? {};
    // A request that was under way when the run ended at its limit has no answer that could be counted.
    if (result?.stopReason === "done") expect(inputTokens + outputTokens).toBe(spent);
    expect(inputTokens + outputTokens).toBeLessThanOrEqual(spent);
    expect(usd).toBeCloseTo((inputTokens + outputTokens) / 1000, 6);
    return { spent, excess };
  }

  test("cross no limit where the provider keeps to the estimate, and else by no more than what is in flight", async () => {
    let nearest = 0;
    const bound = fc.tuple(fc.boolean(), fc.integer({ min: 3000, max: 20_000 }), fc.constantFrom(0.5, 1, 1.5, 3));
    await fc.assert(
      fc.asyncProperty(bound, async ([isUsd, tokens, factor]) => {
        const { spent, excess } = await spend(isUsd ? { usd: tokens / 1000 } : { tokens }, factor);
        nearest = Math.max(nearest, spent / tokens);
        expect(spent).toBeLessThanOrEqual(tokens + (factor > 1 ? parallel * excess : 0));
      }),
      { numRuns: runs, seed },
    );
    expect(nearest).toBeGreaterThan(0.4);
  }, 600_000);
});
