import * as fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { tool, type WorkerRuntime } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 60);

/** A call of a chain, after so many turns of the event loop: when it is played first, and when it is replayed. */
interface Step {
  readonly name: "count" | "relay" | "child";
  readonly input: "a" | "b";
  readonly waits: readonly [played: number, replayed: number];
}

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom("count", "relay", "child"),
  input: fc.constantFrom("a", "b"),
  waits: fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 30 })),
});
const chains = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 4 });

test("a replay gives each call of code its own outcome, whatever the order of parallel chains", async () => {
  let swapped = 0;
  await fc.assert(
    fc.asyncProperty(chains, async (given) => {
      const { played, replayed } = await playChains(given);
      expect(replayed.results).toEqual(played.results);
      expect(played.results.flat()).toHaveLength(given.flat().length);
      if (String(replayed.order) !== String(played.order)) swapped++;
    }),
    { numRuns: runs, seed: 20261122 },
  );
  expect(swapped).toBeGreaterThan(runs / 4);
}, 600_000);

interface Pass {
  /** The outcome of each call, chain by chain. */
  results: readonly (readonly unknown[])[];
  /** The calls in the order in which they were made. */
  readonly order: string[];
}

/** Plays the chains side by side, and replays them with other waits; the harness compares all facts and events. */
async function playChains(given: readonly (readonly Step[])[]): Promise<{ readonly played: Pass; readonly replayed: Pass }> {
  const passes: [Pass, Pass] = [
    { results: [], order: [] },
    { results: [], order: [] },
  ];
  let isReplay: 0 | 1 = 0;
  let counted = 0;
  const runChain = async (chain: readonly Step[], chainIndex: number, runtime: WorkerRuntime) => {
    const results = [];
    for (const [index, { name, input, waits }] of chain.entries()) {
      for (let wait = waits[isReplay]; wait > 0; wait--) await new Promise(setImmediate);
      passes[isReplay].order.push(`${chainIndex}.${index}`);
      // Equal calls have different outcomes here, so that each needs a name.
      results.push(await runtime.call(name, { input }, { key: `${chainIndex}.${index}` }));
    }
    return results;
  };
  const input = z.object({ input: z.string() });
  const { error } = await play({
    files: { "main.worker": worker("toolsets: { chains: {} }"), "child.worker": worker("description: c") },
    tools: {
      count: tool({ input, run: (args) => `${args.input} ${++counted}` }),
      relay: tool({ input, calls: ["count"], run: (args, runtime) => runtime.call("count", args) }),
      chains: tool({
        input: z.object({}),
        calls: ["count", "relay", "child"],
        run: async (_, runtime) => {
          const pass = passes[isReplay];
          pass.results = await Promise.all(given.map((chain, index) => runChain(chain, index, runtime)));
          return "done";
        },
      }),
    },
    model: ({ worker: name, turn }) => {
      if (name === "child") return `child ${++counted}`;
      return turn === 1 ? { calls: [{ tool: "chains" }] } : "done";
    },
    approval: { mode: "approve_all" },
    onPlayed: () => {
      isReplay = 1;
    },
    request: { input: "x" },
  });
  expect(error).toBeUndefined();
  return { played: passes[0], replayed: passes[1] };
}

test("equal calls without a key are told apart by their order", async () => {
  const results: unknown[] = [];
  let counted = 0;
  const { result } = await play({
    files: { "main.worker": worker("toolsets: { twice: {} }") },
    tools: {
      count: tool({ input: z.object({}), run: () => ++counted }),
      twice: tool({
        input: z.object({}),
        calls: ["count"],
        run: async (_, runtime) => {
          results.push(await runtime.call("count", {}), await runtime.call("count", {}));
          return "done";
        },
      }),
    },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "twice" }] } : "done"),
    approval: { mode: "approve_all" },
    request: { input: "x" },
  });
  expect(result?.output).toBe("done");
  expect(results).toEqual([1, 2, 1, 2]);
});

test("a replay reports code that makes another call than the recorded one", async () => {
  let input = "recorded";
  const failures: unknown[] = [];
  const played = play({
    files: { "main.worker": worker("toolsets: { caller: {} }") },
    tools: {
      echo: tool({ input: z.object({ input: z.string() }), run: (args) => args.input }),
      caller: tool({
        input: z.object({}),
        calls: ["echo"],
        run: (_, runtime) => runtime.call("echo", { input }).catch((error) => failures.push(error.message)),
      }),
    },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "caller" }] } : "done"),
    approval: { mode: "approve_all" },
    onPlayed: () => {
      input = "another";
    },
    request: { input: "x" },
  });
  await expect(played).rejects.toThrow();
  expect(failures).toEqual([expect.stringContaining("the record holds no answer for this call of echo")]);
});
