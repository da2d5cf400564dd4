import { expect, test } from "vitest";
import type { Fact } from "../protocol/fact.ts";
import type { Effect } from "./effects.ts";
import { createLiveEffects } from "./live.ts";

const clock = { sleep: async () => undefined, monotonic: () => 0 };

function effectOf(key: string, work: () => Promise<string>, sideEffect = false): Effect<string> {
  const record = { callPath: "main", key, kind: "model" as const, digest: key, sideEffect, announced: true, detail: {} };
  return { record, codec: { encode: (value) => value, decode: String }, work };
}

test("effects beside one another wait for one write, and work after it; one that is alone or changes something does not share", async () => {
  const log: string[] = [];
  const journal = {
    append: (fact: Fact) => void ("key" in fact && log.push(`${fact.type} ${fact.key}`)),
    written: async ({ durable, shared }: { readonly durable: boolean; readonly shared?: boolean }) => {
      await undefined;
      log.push(durable ? "on disk" : shared ? "shared" : "at once");
    },
    close: async () => undefined,
  };
  const effects = createLiveEffects({ clock, journal });
  const perform = (key: string, sideEffect?: boolean) => {
    const work = async () => {
      log.push(`work ${key}`);
      return key;
    };
    return effects.perform(effectOf(key, work, sideEffect), new AbortController().signal);
  };
  await Promise.all([perform("a"), perform("b"), perform("c", true)]);
  await perform("d");
  expect(log.slice(0, 3)).toEqual(["intent a", "intent b", "intent c"]);
  expect(log.filter((line) => /^(?:at once|shared|on disk)/.test(line))).toEqual(["at once", "shared", "on disk", "at once"]);
  for (const [key, how] of [
    ["a", "at once"],
    ["b", "shared"],
    ["c", "on disk"],
  ] as const)
    expect(log.indexOf(how)).toBeLessThan(log.indexOf(`work ${key}`));
});
