import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelErrorCode } from "../../src/models/model.ts";
import { runsIn } from "../records.ts";
import { type Attempt, attempt } from "./killable.ts";
import {
  attemptOnce,
  createLedger,
  createTreeProgram,
  createTreeWorld,
  expectSame,
  type Plan,
  playUndisturbed,
  randomPlan,
  type TreeChanges,
  treeFiles,
} from "./random-tree.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 4);

const share = fc.integer({ min: 0, max: 999 });

/** Plays a property of random call trees, each of which is disturbed at some places of its run. */
function check(property: (tree: Plan, at: readonly number[]) => Promise<void>, numRuns = runs): Promise<void> {
  const places = fc.array(share, { minLength: 1, maxLength: 3 });
  return Promise.resolve(fc.assert(fc.asyncProperty(randomPlan(2), places, property), { numRuns, seed: 20_261_122 }));
}

/** A plan played undisturbed, and a world for the run that is disturbed. */
async function begin(tree: Plan) {
  const undisturbed = await playUndisturbed(tree);
  const disturbed = { world: createTreeWorld(), ledger: createLedger() };
  const entryAt = (at: number) => Math.floor((at / 1000) * undisturbed.attempt.record.facts.length) + 2;
  return { undisturbed, disturbed, entryAt, requests: undisturbed.ledger.served / 15 };
}

function journalOf({ world }: { readonly world: ReturnType<typeof createTreeWorld> }): string {
  return Object.entries(world.memory.snapshot(runsIn("/program"))).join("\n");
}

const growing = new Set(["append", "write", "makeDirectory", "createFile"]);

test("a run whose disk was full at any entry goes on when there is room", async () => {
  let stops = 0;
  await check(async (tree, at) => {
    const { undisturbed, disturbed, entryAt } = await begin(tree);
    const program = createTreeProgram(tree, disturbed.ledger);
    let last: Attempt | undefined;
    for (const place of [...at, undefined]) {
      let room = place === undefined ? Number.POSITIVE_INFINITY : entryAt(last ? place / 2 : place);
      disturbed.world.memory.setFaults((operation, path) => {
        if (operation === "append" && path.endsWith("journal.jsonl")) room--;
        return room <= 0 && growing.has(operation) ? "ENOSPC" : undefined;
      });
      last = await attemptOnce(disturbed, last, (world) => attempt(world, program));
      if (!last.error) break;
      expect(String(last.error)).toMatch(/ENOSPC|no space/);
      stops++;
      const [journal, done] = [journalOf(disturbed), disturbed.ledger.done.length];
      expect((await attempt(disturbed.world, program)).error).toMatchObject({ code: "journal" });
      expect([journalOf(disturbed), disturbed.ledger.done.length]).toEqual([journal, done]);
    }
    expectSame(last, undisturbed, disturbed);
  });
  expect(stops).toBeGreaterThan(runs / 2);
}, 3_600_000);

const failures: readonly ModelErrorCode[] = ["overloaded", "network", "auth", "rate_limit", "broken_stream"];

test("a run whose provider failed for a while goes on when it answers", async () => {
  let stops = 0;
  await check(async (tree, at) => {
    const { undisturbed, disturbed, requests } = await begin(tree);
    let last: Attempt | undefined;
    for (const place of [...at, undefined]) {
      let left = place === undefined ? Number.POSITIVE_INFINITY : Math.floor((place / 1000) * requests);
      const code = failures[(place ?? 0) % failures.length] ?? "overloaded";
      const model = () => (left-- > 0 ? undefined : { error: { code } });
      const program = createTreeProgram(tree, disturbed.ledger, { model });
      last = await attemptOnce(disturbed, last, (world) => attempt(world, program));
      if (!last.error) break;
      expect(last.error).toMatchObject({ code: code === "auth" ? "authentication" : "provider" });
      stops++;
    }
    expectSame(last, undisturbed, disturbed);
  });
  expect(stops).toBeGreaterThan(runs / 2);
}, 3_600_000);

const refusal = /^(another process executes this run|this run has ended)/;

test("one of several resumes at once goes on, and none beside a run that executes", async () => {
  await check(async (tree, at) => {
    const { undisturbed, disturbed, entryAt, requests } = await begin(tree);
    const program = createTreeProgram(tree, disturbed.ledger);
    const killed = await attempt(disturbed.world, program, entryAt(at[0] ?? 0));
    const { world } = disturbed;
    let left = Math.floor(((at.at(-1) ?? 0) / 1000) * requests);
    const late: Attempt[] = [];
    const model = async () => {
      if (left-- === 0) late.push(await attempt(world, program));
      return undefined;
    };
    const beside = createTreeProgram(tree, disturbed.ledger, { model });
    const play = () => Promise.all([attempt(world, beside), attempt(world, beside), attempt(world, beside)]);
    let all: readonly Attempt[] = [killed];
    if (killed.wasKilled)
      await attemptOnce(disturbed, killed, async () => {
        all = await play();
        return killed;
      });
    const [last, ...more] = all.filter(({ error }) => !error);
    expect(more).toEqual([]);
    for (const { error } of [...all, ...late].filter((one) => one !== last))
      expect(error).toMatchObject({ code: "configuration", message: expect.stringMatching(refusal) });
    expectSame(last, undisturbed, disturbed);
  });
}, 3_600_000);

interface Change extends TreeChanges {
  readonly files?: Readonly<Record<string, (text: string) => string>>;
  /** A part of what is said where a recorded request is no longer the same. */
  readonly words: RegExp;
}

const prompt = (text: string) => text.replace("Do it.", "Do it.\nAnd well.");
const changes: readonly Change[] = [
  {
    files: { "main.worker": prompt },
    words: /^main.worker:\d+: main, turn \d+: the instructions changed: "And well\." was added; undo/,
  },
  {
    files: { "child.worker": prompt },
    words: /^child.worker:\d+: .*child, turn \d+: the instructions changed: "And well\." was added; undo/,
  },
  { note: "Takes two notes.", words: /, turn \d+: the description or the schema of the tool `note` changed; undo/ },
  {
    files: { "main.worker": (text) => text.replace("type: array", "type: array, description: results") },
    words: /^main, turn \d+: the output schema changed; undo/,
  },
];

test("a run whose program was changed stops with words, and goes on from there, or when the change is undone", async () => {
  const told = new Set<Change>();
  let next = 0;
  await check(async (tree, [at = 0, ...more]) => {
    const change = changes[next++ % changes.length] as Change;
    const { undisturbed, disturbed, entryAt } = await begin(tree);
    const { world, ledger } = disturbed;
    const program = createTreeProgram(tree, ledger);
    const changed = createTreeProgram(tree, ledger, change);
    const edited = Object.entries(change.files ?? {});
    const killed = await attempt(world, program, entryAt(at));
    if (!killed.wasKilled) return;
    for (const [name, edit] of edited) world.memory.put(`/program/${name}`, edit(treeFiles[name as keyof typeof treeFiles]));
    const stopped = await attemptOnce(disturbed, killed, () => attempt(world, changed));
    if (!stopped.error) return expectSame(stopped, undisturbed, disturbed);
    expect(stopped.error).toMatchObject({ code: "changed", message: expect.stringMatching(change.words) });
    told.add(change);
    if (more.length > 0) {
      const forked = await attempt(world, changed, undefined, { fromHere: true });
      if (forked.error) throw forked.error;
      // The calls of turns that are made anew find the files that were written, and the workers that were created.
      if (JSON.stringify(tree).includes("worker_create")) return;
      const outputOf = ({ result }: Attempt) => JSON.stringify(result?.output).replaceAll(/(created\\*":)false/g, "$1true");
      expect(outputOf(forked)).toBe(outputOf(undisturbed.attempt));
      return;
    }
    for (const [name] of edited) world.memory.put(`/program/${name}`, treeFiles[name as keyof typeof treeFiles]);
    expectSame(await attemptOnce(disturbed, stopped, () => attempt(world, program)), undisturbed, disturbed);
  }, runs * 3);
  expect(told.size).toBeGreaterThan(Math.min(runs, changes.length) / 2);
}, 3_600_000);
