import { expect, test } from "vitest";
import type { Fact } from "../protocol/fact.ts";
import { createAnswerer } from "./answerer.ts";
import type { Effect } from "./effects.ts";

const clock = { sleep: async () => undefined, monotonic: () => 0 };

interface Kind {
  readonly kind?: "model" | "question";
  readonly sideEffect?: boolean;
}

function effectOf(key: string, work: () => Promise<string>, { kind = "model", sideEffect = false }: Kind): Effect<string> {
  const record = { callPath: "main", key, kind, digest: key, sideEffect, announced: true, detail: {} };
  return { record, codec: { encode: (value) => value, decode: String }, work };
}

test("requests beside one another wait for one write, and are made after it; one that is alone, a change or a question does not share", async () => {
  const log: string[] = [];
  const journal = {
    append: (fact: Fact) => void ("key" in fact && log.push(`${fact.type} ${fact.key}`)),
    written: async ({ durable, shared }: { readonly durable: boolean; readonly shared?: boolean }) => {
      await undefined;
      log.push(durable ? "on disk" : shared ? "shared" : "at once");
    },
    close: async () => undefined,
  };
  const effects = createAnswerer({ live: { clock, journal } });
  const perform = (key: string, kind: Kind = {}) => {
    const work = async () => {
      log.push(`work ${key}`);
      return key;
    };
    return effects.perform(effectOf(key, work, kind), new AbortController().signal);
  };
  await Promise.all([perform("a"), perform("b"), perform("c", { sideEffect: true }), perform("q", { kind: "question" })]);
  await perform("d");
  const writes = ["at once", "shared", "on disk", "at once", "at once"];
  expect(log.slice(0, 4)).toEqual(["intent a", "intent b", "intent c", "intent q"]);
  expect(log.filter((line) => /^(?:at once|shared|on disk)/.test(line))).toEqual(writes);
  for (const [key, how] of [
    ["a", "at once"],
    ["b", "shared"],
    ["c", "on disk"],
  ] as const)
    expect(log.indexOf(how)).toBeLessThan(log.indexOf(`work ${key}`));
});
