import { describe, expect, test } from "vitest";
import { createMemoryHost } from "../host/memory-host.ts";
import type { Step } from "../protocol/journal-entry.ts";
import { Redactor } from "../util/redactor.ts";
import { createJournal, JournalError } from "./journal.ts";
import { readJournal, UnreadableJournal } from "./read-journal.ts";

const directory = "/work/.llm-do/runs/r1";
const secret = "s3cr3t-value-of-a-key";

function setUp() {
  const host = createMemoryHost();
  const redactor = new Redactor([{ name: "API_KEY", value: secret }]);
  return { host, open: () => createJournal({ host, directory, redactor }) };
}

function step(detail: string, sideEffect = true): Step<string> {
  return { callPath: "main/0.tool", kind: "tool", detail: { detail }, sideEffect, describe: (result) => ({ result }) };
}

describe("a journal", () => {
  test("has the intent before the step runs, and the result after it", async () => {
    const { host, open } = setUp();
    const journal = await open();
    let seenInside = "";
    await journal.step(step("write"), async () => {
      seenInside = await host.files.readText(`${directory}/journal.jsonl`);
      return "done";
    });
    await journal.close();
    expect(seenInside).toContain('"type":"intent"');
    const { entries, torn } = await readJournal(host, directory);
    expect(torn).toBe(false);
    expect(entries.map(({ type, n }) => [n, type])).toEqual([
      [0, "intent"],
      [1, "result"],
    ]);
  });

  test("keeps the failure of a step, and lets it through", async () => {
    const { host, open } = setUp();
    const journal = await open();
    await expect(journal.step(step("x"), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await journal.close();
    expect((await readJournal(host, directory)).entries[1]).toMatchObject({ type: "result", ok: false, detail: { error: "no" } });
  });

  test("can be cut off at any byte and read back up to there", async () => {
    const { host, open } = setUp();
    const journal = await open();
    for (const text of ["a", "ü€😀", "line\nbreak"]) await journal.step(step(text), async () => text);
    await journal.close();
    const whole = await host.files.readBytes(`${directory}/journal.jsonl`);
    for (let length = 0; length <= whole.length; length++) {
      host.put(`${directory}/journal.jsonl`, whole.slice(0, length));
      const lines = whole.slice(0, length).filter((byte) => byte === 10).length;
      const { entries, torn } = await readJournal(host, directory);
      expect(entries).toHaveLength(lines);
      expect(torn).toBe(length > 0 && whole[length - 1] !== 10);
    }
  });

  test("says where it is damaged", async () => {
    const { host } = setUp();
    const line = (n: number, more = "") => `{"v":1,"n":${n},"time":0,"type":"grant"${more}}\n`;
    const cases: Record<string, string> = {
      [`${line(0)}nonsense\n${line(2)}`]: ":2:",
      [line(0) + line(2)]: "entry 1 is missing",
      [`{"v":9,"n":0,"type":"x"}\n`]: "version 9",
    };
    for (const [text, message] of Object.entries(cases)) {
      host.put(`${directory}/journal.jsonl`, text);
      await expect(readJournal(host, directory)).rejects.toThrow(UnreadableJournal);
      await expect(readJournal(host, directory)).rejects.toThrow(message);
    }
  });

  test("holds no known secret, neither in lines nor in blobs", async () => {
    const { host, open } = setUp();
    const journal = await open();
    await journal.step(step(`key: ${secret}`), async () => `${secret} ${"x".repeat(20_000)}`);
    await journal.close();
    const all = JSON.stringify(host.snapshot(directory));
    expect(all).not.toContain(secret);
    expect(all).toContain("⟦secret:API_KEY⟧");
  });

  test("keeps files and long texts once each, under their digests", async () => {
    const { host, open } = setUp();
    const journal = await open();
    const long = "x".repeat(20_000);
    for (const _ of [1, 2]) await journal.step(step(long), async () => long);
    await journal.close();
    const blobs = await host.files.names(`${directory}/blobs`);
    expect(blobs).toHaveLength(1);
    expect((await readJournal(host, directory)).entries[0]).toMatchObject({
      detail: { detail: { $blob: blobs[0], bytes: 20_000 } },
    });
  });

  test("that cannot be written stops what would have been forgotten", async () => {
    const { host, open } = setUp();
    const journal = await open();
    host.setFaults((operation) => (operation === "append" ? "ENOSPC" : undefined));
    let ran = false;
    const run = journal.step(step("x"), async () => {
      ran = true;
      return "";
    });
    await expect(run).rejects.toThrow(JournalError);
    await expect(run).rejects.toThrow(/ENOSPC/);
    expect(ran).toBe(false);
    await journal.close();
  });
});
