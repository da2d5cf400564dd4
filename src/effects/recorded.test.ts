import { expect, test } from "vitest";
import { noJournal } from "../journal/journal.ts";
import { createMemoryClock } from "../testing/memory-clock.ts";
import { createLiveEffects } from "./live.ts";
import { createRecordedEffects } from "./recorded.ts";

test("time passes for approvers and connections, and not between requests that a recording answers", async () => {
  const clock = createMemoryClock(0);
  const live = createLiveEffects({ clock, journal: noJournal });
  const effects = createRecordedEffects({ live, recording: [], runsForReal: () => false, redact: (value) => value });
  const { signal } = new AbortController();
  await effects.waitToRetry(1000, { callPath: "main", key: "model 1.2" }, signal);
  let isOver = false;
  const waited = effects.sleep(1000, signal).then(() => {
    isOver = true;
  });
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await waited;
  expect(isOver).toBe(true);
});
