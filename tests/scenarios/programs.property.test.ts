import * as fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import type { Fact } from "../../src/protocol/fact.ts";
import { type Attempt, attempt, createWorld, expectReplays, type KillableProgram } from "./killable.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 6);

/** A part of a generated program: JavaScript that comes to a value. */
const expression: fc.Memo<string> = fc.memo((depth) => {
  const call = fc
    .tuple(fc.constantFrom("write", "read", "fail", "child"), fc.nat({ max: 2 }), fc.nat({ max: 12 }))
    .map(([name, id, turns]) =>
      name === "child" ? `call("child", { input: "${id}" })` : `call("${name}", { id: ${id}, turns: ${turns} })`,
    );
  if (depth <= 1) return call;
  const inner = expression(depth - 1);
  const several = fc.array(inner, { minLength: 2, maxLength: 3 });
  const settled = (form: string) => several.map((all) => `Promise.${form}([${all.join(", ")}].map(caught))`);
  return fc.oneof(
    call,
    settled("all"),
    settled("race"),
    several.map((all) => `(async () => [${all.map((one) => `await caught(${one})`).join(", ")}])()`),
    inner.map(
      (one) => `map([0, 1, 2], (n) => caught(n === 1 ? ${one} : call("write", { id: n, turns: 2 * n })), { parallel: 2 })`,
    ),
    fc
      .tuple(inner, inner)
      .map(([first, other]) => `caught(${first}).then((value) => JSON.stringify(value).length % 2 ? ${other} : value)`),
    inner.map((one) => `(caught(call("write", { id: 9, turns: 3 })), ${one})`),
    inner.map((one) => `(print("so far"), budget().then(() => caught(${one})))`),
  );
});

const source = fc
  .array(expression(3), { minLength: 1, maxLength: 3 })
  .map(
    (parts) =>
      `const caught = (made) => Promise.resolve(made).catch((error) => error.type);\nreturn [${parts.map((one) => `await caught(${one})`).join(", ")}];`,
  );

/** Executions that changed the world, by their place in the tree. */
type Ledger = Map<string, number>;

function createProgram(text: string, ledger: Ledger): KillableProgram {
  const input = z.object({ id: z.number(), turns: z.number() });
  return {
    files: {
      "main.worker": "---\ntoolsets: { program: {}, write: {}, read: {}, fail: {}, child: {} }\n---\nDo it.\n",
      "child.worker": "---\ndescription: c\ntoolsets: { write: {} }\n---\nDo it.\n",
    },
    tools: (live) => {
      const work = async (turns: number) => {
        for (let left = turns; left > 0; left--) await new Promise(setImmediate);
        await live();
      };
      return {
        write: tool({
          input,
          run: async ({ id, turns }, { callPath }) => {
            await work(turns);
            ledger.set(callPath, (ledger.get(callPath) ?? 0) + 1);
            return `wrote ${id} at ${callPath.length}`;
          },
        }),
        read: tool({ input, sideEffect: false, run: async ({ id, turns }) => work(turns).then(() => `read ${id}`) }),
        fail: tool({
          input,
          sideEffect: false,
          run: async ({ id, turns }) => {
            await work(turns);
            throw new Error(`failed ${id}`);
          },
        }),
      };
    },
    model: ({ worker, turn }) => {
      if (worker === "child") return turn === 1 ? { calls: [{ tool: "write", args: { id: 7, turns: 1 } }] } : "child";
      return turn === 1 ? { calls: [{ tool: "run_program", args: { source: text } }] } : "done";
    },
    approval: (live) => ({
      mode: "prompt",
      approver: async () => {
        await live();
        return { type: "approve" };
      },
      // A write that began before a kill is asked about: the ledger says whether it was done.
      settle: async ({ callPath }) => {
        await live();
        return ledger.has(callPath) ? { type: "deny" } : { type: "approve" };
      },
    }),
    input: "x",
  };
}

/** Runs the program until it has ended, killed at the given entries of its attempts. */
async function runKilled(text: string, kills: readonly number[]) {
  const ledger: Ledger = new Map();
  const program = createProgram(text, ledger);
  const world = createWorld(
    program.files,
    program.tools(async () => undefined),
  );
  let last: Attempt | undefined;
  let killed = 0;
  for (const kill of [...kills, undefined]) {
    last = await attempt(world, program, kill);
    if (last.wasKilled) killed++;
    else break;
  }
  if (!last?.result) throw last?.error ?? new Error("it did not end");
  return { ledger, killed, record: last.record, world, program };
}

/** Paths of the calls of `write` that passed the gate: each has a verdict, a decision and a grant of its own. */
function grantedWrites(facts: readonly Fact[]): readonly string[] {
  const has = (type: Fact["type"]) =>
    new Set(facts.flatMap((fact) => (fact.type === type && "callPath" in fact ? [fact.callPath] : [])));
  const [verdicts, decisions, grants] = [has("verdict"), has("decision"), has("grant")];
  return [...grants].filter((path) => path.endsWith(".write") && verdicts.has(path) && decisions.has(path)).sort();
}

async function check(text: string, kills: readonly number[], seen: { kills: number; writes: number }): Promise<number> {
  const { ledger, killed, record, world, program } = await runKilled(text, kills);
  seen.kills += killed;
  seen.writes += ledger.size;
  expect(grantedWrites(record.facts)).toEqual([...ledger.keys()].sort());
  expect([...ledger.values()].filter((times) => times !== 1)).toEqual([]);
  await expectReplays(world, program);
  return record.facts.length;
}

test("a generated program that is killed and goes on makes each call once, at the gate, and is replayed", async () => {
  const seen = { kills: 0, writes: 0 };
  const kills = fc.array(fc.integer({ min: 6, max: 40 }), { minLength: 1, maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(source, kills, async (text, places) => void (await check(text, places, seen))),
    { numRuns: runs, seed: Number(process.env["LLM_DO_FUZZ_SEED"] ?? 20_261_128) },
  );
  if (runs > 100) process.stdout.write(`${JSON.stringify(seen)}\n`);
  expect(seen.kills).toBeGreaterThan(runs / 2);
  expect(seen.writes).toBeGreaterThan(runs);
}, 14_400_000);

/** It makes calls one after another, side by side, in a race, without waiting for them, and of a worker. */
const everyShape = `const first = await call("write", { id: 1, turns: 1 });
const [fast] = await Promise.all([call("read", { id: 1, turns: 9 }), call("write", { id: 2, turns: 3 }), call("child", { input: "a" })]);
const winner = await Promise.race([call("write", { id: 3, turns: 12 }), call("write", { id: 4, turns: 2 })]);
call("write", { id: 5, turns: 2 });
return [first, fast, winner, await map([6, 7], (id) => call("write", { id, turns: id }))];`;

test("a program that is killed at each entry of its record goes on without repeating a call", async () => {
  const seen = { kills: 0, writes: 0 };
  const entries = await check(everyShape, [], seen);
  const step = runs > 100 ? 1 : 7;
  for (let entry = 2; entry < entries; entry += step) await check(everyShape, [entry], seen);
  expect(seen.kills).toBe(Math.ceil((entries - 2) / step));
}, 14_400_000);
