import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type JsonValue, type MapOptions, tool, toolFailure, type WorkerRuntime } from "../../src/index.ts";
import { createTestRuntime } from "../../src/testing/index.ts";
import { play, worker } from "./harness.ts";

interface Mapped {
  /** The values that the code got, in the run and in its replay. */
  readonly outcomes: readonly unknown[];
  /** The inputs in the order in which their calls began. */
  readonly begun: readonly string[];
  readonly mostAtOnce: number;
  readonly error: unknown;
}

/** Plays a tool that maps `step` over texts; a later text takes less time, `bad` fails. The harness replays it. */
async function playMap(inputs: readonly string[], options?: MapOptions, limits = "{}"): Promise<Mapped> {
  const outcomes: unknown[] = [];
  const begun: string[] = [];
  let [underWay, mostAtOnce] = [0, 0];
  const step = async ({ text }: { readonly text: string }) => {
    const number = begun.push(text);
    mostAtOnce = Math.max(mostAtOnce, ++underWay);
    for (let wait = 3 * (inputs.length - number); wait >= 0; wait--) await new Promise(setImmediate);
    underWay--;
    if (text === "bad") throw new Error("no such text");
    return `${text} ${number}`;
  };
  const mapAll = async (_: unknown, runtime: WorkerRuntime) => {
    const made = runtime.map(
      "step",
      inputs.map((text) => ({ text })),
      options,
    );
    outcomes.push(await made.catch((thrown: Error) => thrown.message));
    return "done";
  };
  const { error } = await play({
    files: { "main.worker": worker(`toolsets: { all: {} }\nlimits: ${limits}`) },
    tools: {
      step: tool({ input: z.object({ text: z.string() }), run: step }),
      all: tool({ input: z.object({}), calls: ["step"], run: mapAll }),
    },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "all" }] } : "done"),
    approval: { mode: "approve_all" },
    request: { input: "x" },
  });
  return { outcomes, begun, mostAtOnce, error };
}

describe("runtime.map", () => {
  test("gives results in the order of the inputs, failures as values, and the same in a replay", async () => {
    const { outcomes, error } = await playMap(["a", "bad", "a", "b"], { concurrency: 2 });
    expect(error).toBeUndefined();
    const failure = { error: expect.stringContaining("no such text"), type: "tool_failed", hint: expect.any(String) };
    const expected = [
      { ok: true, value: "a 1" },
      { ok: false, error: failure },
      { ok: true, value: "a 3" },
      { ok: true, value: "b 4" },
    ];
    expect(outcomes).toEqual([expected, expected]);
  });

  test.each([
    [1, 1],
    [3, 3],
    [50, 6],
    [undefined, 6],
  ])("with a concurrency of %s has at most %i calls under way", async (concurrency, most) => {
    const inputs = ["a", "b", "c", "d", "e", "f"];
    const { begun, mostAtOnce } = await playMap(inputs, concurrency === undefined ? undefined : { concurrency });
    expect(mostAtOnce).toBe(most);
    expect(begun).toEqual(inputs);
  });

  test("keeps to `limits.parallel` of the run", async () => {
    expect(await playMap(["a", "b", "c", "d"], undefined, "{ parallel: 2 }")).toMatchObject({ mostAtOnce: 2 });
  });

  test("rejects where a limit ends its caller", async () => {
    const { outcomes, begun } = await playMap(["a", "b", "c", "d"], { concurrency: 1 }, "{ tool_calls: 3 }");
    expect(begun).toEqual(["a", "b"]);
    expect(String(outcomes[0])).toBe("the limit of 3 tool calls is reached");
  });

  test.each([
    [{ concurrency: 0 }, "`concurrency` has to be a whole number from 1 on"],
    [{ concurrency: 1.5 }, "`concurrency` has to be a whole number from 1 on"],
    [{ parallel: 2 }, "`map` has no option `parallel`"],
    [{ key: 1 }, "`key` has to be a text"],
  ])("rejects the options %j", async (options, message) => {
    const { outcomes, begun } = await playMap(["a"], options as MapOptions);
    expect(String(outcomes[0])).toContain(message);
    expect(begun).toEqual([]);
  });
});

test("a test runtime maps, and keeps the calls that were made", async () => {
  await using runtime = await openTestRuntime();
  const results = await runtime.map("double", [1, "x", 3], { key: "twice" });
  expect(results).toMatchObject([
    { ok: true, value: 2 },
    { ok: false, error: { type: "tool_failed" } },
    { ok: true, value: 6 },
  ]);
  expect(runtime.made.map(({ options }) => options.key)).toEqual(["twice[0]", "twice[1]", "twice[2]"]);
});

async function openTestRuntime() {
  const double = (input: JsonValue) => {
    if (typeof input !== "number") throw toolFailure("tool_failed", "no number");
    return 2 * input;
  };
  const runtime = await createTestRuntime({ calls: { double } });
  return { ...runtime, [Symbol.asyncDispose]: runtime.close };
}
