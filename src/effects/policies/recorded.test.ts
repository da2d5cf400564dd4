import { expect, test } from "vitest";
import { noJournal } from "../../journal/journal.ts";
import { createMemoryClock } from "../../testing/memory-clock.ts";
import { createAnswerer } from "../answerer.ts";
import { recorded } from "./recorded.ts";

test("time passes for approvers and connections, and not between requests that a recording answers", async () => {
  const clock = createMemoryClock(0);
  const policy = recorded({ runsForReal: () => false, redact: (value) => value });
  const effects = createAnswerer({ live: { clock, journal: noJournal }, facts: [], policy });
  const { signal } = new AbortController();
  await effects.sleep(1000, signal, { callPath: "main", key: "model 1.2" });
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
