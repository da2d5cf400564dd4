import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RunError } from "../../src/index.ts";
import { type Attempt, attempt, expectReplays } from "./killable.ts";
import {
  answerHeld,
  attemptOnce,
  createLedger,
  createTreeProgram,
  createTreeWorld,
  expectSame,
  type HeldAnswers,
  type Plan,
  playUndisturbed,
  randomPlan,
  uncertainIn,
} from "./random-tree.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 20);

/** A bit for each question. */
const allQuestions = 2 ** 31 - 1;

const share = fc.integer({ min: 0, max: 999 });

/** What happens to the run of a plan. */
const disturbance = fc.record({
  kills: fc.array(share, { minLength: 1, maxLength: 3 }),
  /** Questions are held, and answered between the attempts: of each time, which ones. */
  held: fc.option(fc.array(fc.nat({ max: 255 }), { minLength: 1, maxLength: 5 }), { nil: undefined }),
});

interface Disturbance {
  readonly kills: readonly number[];
  readonly held: readonly number[] | undefined;
}

test("a run that is killed at any entry goes on as if it had not been, and can be replayed", async () => {
  const seen = { kills: 0, uncertain: 0, suspended: 0, answers: 0, repetitions: 0, created: 0, worlds: 0 };
  await fc.assert(
    fc.asyncProperty(randomPlan(2), disturbance, (tree, disturbed) => checkTree(tree, disturbed, seen)),
    { numRuns: runs, seed: Number(process.env["LLM_DO_FUZZ_SEED"] ?? 20_261_122) },
  );
  if (runs > 100) process.stdout.write(`${JSON.stringify(seen)}\n`);
  expect(seen.kills).toBeGreaterThan(runs);
  for (const count of [seen.uncertain, seen.suspended, seen.answers, seen.repetitions, seen.created])
    expect(count).toBeGreaterThan(0);
}, 14_400_000);

type Seen = Record<"kills" | "uncertain" | "suspended" | "answers" | "repetitions" | "created" | "worlds", number>;

/** Throws where an attempt that was not killed ended otherwise than with a question. */
function requireQuestion({ error }: Attempt, seen: Seen): void {
  if (!(error instanceof RunError) || !["suspended", "uncertain"].includes(error.code)) throw error;
  seen.suspended++;
}

async function checkTree(tree: Plan, { kills, held }: Disturbance, seen: Seen): Promise<void> {
  const undisturbed = await playUndisturbed(tree);
  const disturbed = { world: createTreeWorld(), ledger: createLedger() };
  const program = createTreeProgram(tree, disturbed.ledger, { isHeld: held !== undefined });
  const asked: HeldAnswers = { answered: new Set(), repetitions: new Map() };
  const entries = undisturbed.attempt.record.facts.length;
  const left = [...kills];
  let last: Attempt | undefined;
  let killed = 0;
  for (let number = 0; ; number++) {
    const place = left.shift();
    const most = last ? entries / (held ? 4 : 2) : entries;
    const kill = place === undefined ? undefined : Math.floor((place / 1000) * most) + 2;
    last = await attemptOnce(disturbed, last, (world) => attempt(world, program, kill));
    if (last.wasKilled) killed++;
    seen.uncertain += last.wasKilled ? uncertainIn(last) : 0;
    if (last.result || number > 200) break;
    if (!last.wasKilled) requireQuestion(last, seen);
    if (held)
      seen.answers += await answerHeld(disturbed, asked, {
        kills: killed,
        attempts: number + 1,
        // Answers that always leave out the question on which a repeated call waits would repeat it for ever.
        chosen: number < 40 ? (held[number % held.length] ?? 0) : allQuestions,
      });
  }
  seen.kills += killed;
  seen.worlds++;
  seen.created += last.record.facts.filter(({ type }) => type === "worker").length;
  for (const count of asked.repetitions.values()) seen.repetitions += count;
  expectSame(last, undisturbed, disturbed);
  await expectReplays(disturbed.world, createTreeProgram(tree, createLedger()));
}
