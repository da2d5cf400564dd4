import { expect, test } from "vitest";
import { countClosures, expectFlat } from "./census.ts";
import { Programs } from "./many.ts";

const programs = Number(process.env["LLM_DO_SOAK_RUNS"] ?? 30);

// In a file, and so in a process, of its own: behind other work the heap has not settled when it is measured first.
test("programs compiled and run one after another leave nothing in their process", async () => {
  const isLong = programs > 2000;
  // Validators are remembered for the last 500 schemas: the long test has a new one for each program.
  using all = new Programs(isLong ? programs + 1000 : 20);
  await all.play(isLong ? 1000 : 10);
  const first = await all.census();
  const closures = isLong ? countClosures() : 0;
  await all.play(programs);
  const last = await all.census();
  expectFlat(first, last);
  expect(last.files).toEqual(first.files);
  if (!isLong) return;
  const more = countClosures() - closures;
  process.stdout.write(`${JSON.stringify({ first, last, more })}\n`);
  expect(last.heap - first.heap).toBeLessThan(programs * 100);
  expect(more).toBeLessThan(programs / 20);
}, 3_600_000);
