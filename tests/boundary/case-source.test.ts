import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, describe, expect, it } from "vitest";
import { readStepCases, type StepCases } from "../../src/boundary/step-cases.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { openStore } from "../../src/journal/stores/find-store.ts";

const folder = mkdtempSync(join(tmpdir(), "llm-do-cases-"));
const host = createNodeHost();
const store = openStore(host, join(folder, "store"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function readCases(file: string, limit?: number): Promise<StepCases> {
  const recorded = { host, step: "triage", store, program: () => Promise.reject(new Error("no program is asked for")) };
  return readStepCases(recorded, { cases: join(folder, file), ...(limit === undefined ? {} : { limit }) });
}

async function messages({ read }: StepCases): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const { input } of read()) found.push((input as { readonly message: string }).message);
  return found;
}

const line = (index: number, more = "") =>
  `${JSON.stringify({ worker: "triage", input: { message: `m${index}${more}` }, output: "bug" })}\n`;

describe("a case file", () => {
  it("is read again from its beginning, and no further than --limit", async () => {
    writeFileSync(join(folder, "some.jsonl"), `${line(1)}\n${line(2)}\r\n${line(3)}{"worker": "tria`);
    await expect(readCases("some.jsonl")).rejects.toThrow(/some\.jsonl: line 6: this is not JSON/);
    const some = await readCases("some.jsonl", 3);
    expect(some.count).toBe(3);
    expect([await messages(some), await messages(some)]).toEqual([
      ["m1", "m2", "m3"],
      ["m1", "m2", "m3"],
    ]);
  });

  it("keeps the separators of Unicode that JSON allows in a text", async () => {
    writeFileSync(join(folder, "separators.jsonl"), line(1, "\u2028and\u2029on"));
    expect(await messages(await readCases("separators.jsonl"))).toEqual(["m1\u2028and\u2029on"]);
  });

  it("of 60 MB is never held", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const path = join(folder, "large.jsonl");
    for (let index = 0; index < 60; index++) {
      const lines = Array.from({ length: 100 }, (_, at) => line(100 * index + at, "x".repeat(10_000)));
      writeFileSync(path, lines.join(""), { flag: "a" });
    }
    expect(statSync(path).size).toBeGreaterThan(60_000_000);
    const found = await readCases("large.jsonl");
    const held: WeakRef<object>[] = [];
    let most = 0;
    for await (const one of found.read()) {
      held.push(new WeakRef(one));
      if (held.length % 500 !== 0) continue;
      // References are cleared between turns of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
      most = Math.max(most, held.filter((ref) => ref.deref() !== undefined).length);
    }
    expect([found.count, held.length]).toEqual([6000, 6000]);
    expect(most).toBeLessThan(1000);
  });
});
