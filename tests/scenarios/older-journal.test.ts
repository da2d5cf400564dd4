import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import { readJournal, runsIn } from "../records.ts";
import { worker } from "./harness.ts";
import { attempt, createWorld, expectReplays } from "./killable.ts";

test("a journal whose requests hold all their messages, and with a grant for each allowed call, is resumed and replayed", async () => {
  const done: string[] = [];
  const note = tool({
    input: z.object({ id: z.string() }),
    approval: "pre-approved",
    run: ({ id }) => `did ${done.push(id)}`,
  });
  const files = { "main.worker": worker("toolsets: { note: {} }") };
  const program = {
    ...{ files, input: "go", tools: () => ({ note }) },
    model: ({ turn }: { readonly turn: number }) => (turn < 4 ? { calls: [{ tool: "note", args: { id: `n${turn}` } }] } : "done"),
    approval: () => ({ mode: "prompt" as const }),
  };
  const world = createWorld(files, { note });
  // In the third turn, after the second request with results.
  const { record } = await attempt(world, program, 14);
  const { memory } = world;
  const [path = "", text = ""] =
    Object.entries(memory.snapshot(runsIn("/program"))).find(([name]) => name.endsWith("/journal.jsonl")) ?? [];
  const { entries } = await readJournal(memory, path.replace(/\/[^/]+$/, ""));
  const older = entries.flatMap((entry) => {
    if (entry.type !== "verdict" || entry.verdict.type !== "allowed") return [entry];
    const { v, time, callPath, key, tool: name } = entry;
    return [entry, { v, n: 0, time, type: "grant" as const, callPath, key, tool: name }];
  });
  memory.put(path, older.map((entry, n) => `${JSON.stringify({ ...entry, n })}\n`).join(""));
  expect(text).toContain('"v":3');
  const resumed = await attempt(world, program);
  const facts = resumed.record.facts.filter(({ type }) => type !== "grant");
  expect(facts.slice(0, record.facts.length)).toEqual(record.facts);
  expect(resumed.result?.output).toBe("done");
  expect(done).toEqual(["n1", "n2", "n3"]);
  await expectReplays(world, program);
});
