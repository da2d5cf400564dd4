import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Attempt, attempt, expectReplays } from "./killable.ts";
import {
  attemptOnce,
  createLedger,
  createTreeProgram,
  createTreeWorld,
  expectSame,
  type Plan,
  playUndisturbed,
  randomPlan,
  uncertainIn,
} from "./random-tree.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 15);

const kills = fc.array(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 3 });

test("a run that is killed at any entry goes on as if it had not been, and can be replayed", async () => {
  const seen = { kills: 0, uncertain: 0 };
  await fc.assert(
    fc.asyncProperty(randomPlan(2), kills, (tree, at) => checkTree(tree, at, seen)),
    { numRuns: runs, seed: 20261122 },
  );
  expect(seen.kills).toBeGreaterThan(runs);
  expect(seen.uncertain).toBeGreaterThan(0);
}, 3_600_000);

async function checkTree(tree: Plan, at: readonly number[], seen: { kills: number; uncertain: number }): Promise<void> {
  const undisturbed = await playUndisturbed(tree);
  const disturbed = { world: createTreeWorld(), ledger: createLedger() };
  const program = createTreeProgram(tree, disturbed.ledger);
  const entries = undisturbed.attempt.record.facts.length;
  let last: Attempt | undefined;
  for (const share of [...at, undefined]) {
    const kill = share === undefined ? undefined : Math.floor((share / 1000) * (last ? entries / 2 : entries)) + 2;
    last = await attemptOnce(disturbed, last, (world) => attempt(world, program, kill));
    if (!last.wasKilled) break;
    seen.kills++;
    seen.uncertain += uncertainIn(last);
  }
  expectSame(last, undisturbed, disturbed);
  await expectReplays(disturbed.world, createTreeProgram(tree, createLedger()));
}
