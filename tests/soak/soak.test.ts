import { expect, test } from "vitest";
import { seededFraction } from "../../src/util/seeded-fraction.ts";
import { countClosures, expectFlat } from "./census.ts";
import { type Ended, Load } from "./load.ts";

const seconds = Number(process.env["LLM_DO_SOAK_SECONDS"] ?? 0);
const seed = process.env["LLM_DO_SEED"] ?? "1";
const isWhole = seconds > 0;

function expectOutcomes(ended: readonly Ended[]): void {
  const wrong = ended.filter(({ kind, outcome, changes }) => {
    // Five faults in a row end a run.
    if (outcome === "provider") return changes > 1;
    return outcome !== outcomes[kind] || changes !== (outcome === "done" && kind !== "command" ? 1 : 0);
  });
  expect(wrong).toEqual([]);
  const lost = ended.filter(({ kind, outcome }) => outcome === "provider" && kind !== "fails");
  expect(lost.length).toBeLessThan(ended.length / 10);
}

const outcomes: Readonly<Record<Ended["kind"], string>> = {
  ...{ works: "done", command: "done", hangs: "done" },
  ...{ cancelled: "aborted", timed: "limit", fails: "provider", denied: "denied" },
};

test("runs at once, between them and their models a proxy with faults, leave nothing in their process", async () => {
  let drawn = 0;
  await using load = new Load(() => seededFraction(`${seed} ${drawn++}`));
  await load.open();
  const atOnce = isWhole ? 200 : 20;
  expectOutcomes(await load.play(atOnce, (started) => started < atOnce));
  const first = await load.census();
  const waves: Wave[] = [];
  for (let wave = 1; wave <= (isWhole ? 6 : 1); wave++) {
    const end = Date.now() + (seconds * 1000) / 6;
    const begun = process.cpuUsage().user;
    const ended = await load.play(atOnce, (started) => (isWhole ? Date.now() < end : started < 60));
    expectOutcomes(ended);
    const cpu = (process.cpuUsage().user - begun) / ended.length / 1000;
    const last = await load.census();
    expectFlat(first, last);
    waves.push({ runs: ended.length, cpu, heap: last.heap, closures: isWhole ? countClosures() : 0 });
  }
  expect(load.leftOver()).toEqual([]);
  for (const [fault, times] of Object.entries(load.faults ?? {})) expect(times, fault).toBeGreaterThan(isWhole ? 500 : 2);
  if (isWhole) expectSteady(waves);
}, 3_600_000);

interface Wave {
  readonly runs: number;
  /** User time of a run, in milliseconds. */
  readonly cpu: number;
  readonly heap: number;
  readonly closures: number;
}

function expectSteady(waves: readonly Wave[]): void {
  process.stdout.write(`${waves.map((wave) => JSON.stringify(wave)).join("\n")}\n`);
  const [early, late] = [waves[1], waves.at(-1)];
  if (!early || !late) throw new Error("there are no waves");
  const runs = waves.slice(2).reduce((sum, wave) => sum + wave.runs, 0);
  expect(late.cpu).toBeLessThan(early.cpu * 1.3);
  expect(late.heap - early.heap).toBeLessThan(runs * 200);
  expect(late.closures - early.closures).toBeLessThan(runs / 20);
}
