import { describe, expect, test } from "vitest";
import type { Fact } from "../protocol/fact.ts";
import { noUsage } from "../protocol/usage.ts";
import { memoryHost } from "../testing/memory-host.ts";
import { Redactor } from "../util/redactor.ts";
import { sha256 } from "../util/sha256.ts";
import { createJournal, JournalError } from "./journal.ts";
import { readFacts, readJournal, UnreadableJournal } from "./read-journal.ts";

const directory = "/work/.llm-do/runs/r1";
const secret = "s3cr3t-value-of-a-key";

function setUp() {
  const host = memoryHost();
  const redactor = new Redactor([{ name: "API_KEY", value: secret }]);
  return { host, open: () => createJournal({ host, directory, redactor }) };
}

function result(value: string): Fact {
  return { type: "result", callPath: "main/0.tool", key: "tool", kind: "tool", outcome: { type: "value", value } };
}

/** One fact of each type. */
const facts: readonly Fact[] = [
  {
    ...{
      type: "run-start",
      runId: "r",
      program: "p",
      programDigest: "d",
      entry: "main",
      mode: "prompt",
      version: "1",
      onDenied: "return",
      limits: {},
    },
    input: { input: { input: "go" }, files: [], fragments: [] },
  },
  {
    type: "call-start",
    callPath: "main",
    kind: "worker",
    name: "main",
    depth: 0,
    input: { input: {}, files: [], fragments: [] },
  },
  {
    ...{ type: "verdict", callPath: "main/0.t", key: "1", tool: "t", args: {}, facts: {}, digest: "d" },
    verdict: { type: "ask", why: "w", isUnstated: true },
  },
  { type: "refusal", callPath: "main/1.t", key: "1", tool: "t", error: { type: "not_found", error: "no" } },
  { type: "decision", callPath: "main/0.t", key: "1", tool: "t", decision: { type: "deny" }, source: "nobody" },
  { type: "revocation", callPath: "main/0.t", worker: "main", tool: "t", memory: "m" },
  { type: "grant", callPath: "main/0.t", key: "1", tool: "t" },
  { type: "intent", callPath: "main/0.t", key: "tool", kind: "tool", digest: "d", sideEffect: true, detail: {} },
  result("x"),
  { type: "limit", callPath: "main", key: "model 2.1", limit: "tokens", allowed: 5 },
  { type: "artifact", callPath: "main", key: "artifact 1", name: "a.png", sha256: "0" },
  { type: "call-end", callPath: "main", stopReason: "done", usage: noUsage },
  { type: "run-end", stopReason: "done", usage: noUsage, denied: 0 },
];

describe("a journal", () => {
  test("gives back the facts that were appended, in their order", async () => {
    const { host, open } = setUp();
    const journal = await open();
    for (const fact of facts) journal.append(fact);
    expect(await journal.close()).toBeUndefined();
    expect(await readFacts(host, directory)).toEqual(facts);
  });

  test("has a fact in the file once it is written", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append(result("one"));
    await journal.written({ durable: true });
    expect(await host.files.readText(`${directory}/journal.jsonl`)).toContain('"one"');
    await journal.close();
  });

  test("takes nothing after the end of the run", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append({ type: "run-end", stopReason: "done", usage: noUsage, denied: 0 });
    journal.append(result("late"));
    await expect(journal.written({ durable: false })).rejects.toThrow(JournalError);
    await journal.close();
    expect((await readJournal(host, directory)).entries).toHaveLength(1);
  });

  test("can be cut off at any byte and read back up to there", async () => {
    const { host, open } = setUp();
    const journal = await open();
    for (const text of ["a", "ü€😀", "line\nbreak"]) journal.append(result(text));
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

  test.each([
    [`nonsense`, ":2: this line is not JSON"],
    [`{"v":2,"n":2,"time":0,"type":"grant"}`, "entry 1 is missing"],
    [`{"v":9,"n":1,"type":"x"}`, "version 9"],
    [`{"v":2,"n":1,"time":0,"type":"party"}`, 'no entry of the type "party"'],
  ])("says where it is damaged: %s", async (line, message) => {
    const { host } = setUp();
    const first = `{"v":2,"n":0,"time":0,"type":"grant","callPath":"a","key":"1","tool":"t"}`;
    host.put(`${directory}/journal.jsonl`, `${first}\n${line}\n`);
    await expect(readFacts(host, directory)).rejects.toThrow(UnreadableJournal);
    await expect(readFacts(host, directory)).rejects.toThrow(message);
  });

  test("names the field that is gone, for every field that a reader relies on", async () => {
    const { host } = setUp();
    for (const fact of facts) {
      for (const path of requiredPaths(fact)) {
        host.put(`${directory}/journal.jsonl`, `${JSON.stringify(without({ v: 2, n: 0, time: 0, ...fact }, path))}\n`);
        const read = readFacts(host, directory);
        await expect(read, `${fact.type} without ${path.join(".")}`).rejects.toThrow(/:1: (?:the field `|this line is not)/);
      }
    }
  });

  test("holds no known secret, neither in lines nor in blobs, and keeps what identifies a fact", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append({ ...result(`${secret} ${"x".repeat(20_000)}`), digest: secret } as Fact);
    journal.append(result(`key: ${secret}`));
    await journal.close();
    const { entries } = await readJournal(host, directory);
    expect(entries[0]).toMatchObject({ digest: secret });
    const all = JSON.stringify(host.snapshot(directory)).replace(`\\"digest\\":\\"${secret}\\"`, "");
    expect(all).not.toContain(secret);
    expect(all).toContain("⟦secret:API_KEY⟧");
  });

  test("keeps files and long texts once each, under their digests, and puts them back", async () => {
    const { host, open } = setUp();
    const journal = await open();
    const long = "x".repeat(20_000);
    for (const _ of [1, 2]) journal.append(result(long));
    const bytes = Buffer.from("picture");
    const file = {
      type: "file",
      name: "a.png",
      mediaType: "image/png",
      bytes: 7,
      sha256: sha256(bytes),
      data: bytes.toString("base64"),
    };
    const written = { $blob: "not one of ours", bytes: 1 };
    const value = { file, written } as never;
    journal.append({ ...result(""), outcome: { type: "value", value } } as Fact);
    await journal.close();
    expect(await host.files.names(`${directory}/blobs`)).toHaveLength(2);
    const read = await readFacts(host, directory);
    expect(read[0]).toEqual(result(long));
    expect(read[2]).toMatchObject({ outcome: { value: { file, written } } });
  });

  test("says which line's blob is gone", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append(result("x".repeat(20_000)));
    await journal.close();
    await host.files.remove(`${directory}/blobs`);
    await expect(readFacts(host, directory)).rejects.toThrow(/journal\.jsonl:1: /);
  });

  test("that cannot be written says so before an effect starts", async () => {
    const { host, open } = setUp();
    const journal = await open();
    host.setFaults((operation) => (operation === "append" ? "ENOSPC" : undefined));
    journal.append(result("x"));
    await expect(journal.written({ durable: true })).rejects.toThrow(/ENOSPC/);
    expect(await journal.close()).toBeInstanceOf(JournalError);
  });
});

/** Members that every fact of its type has. Optional ones and the content of free values are left out. */
function requiredPaths(fact: Fact): readonly (readonly string[])[] {
  const free = new Set(["args", "facts", "detail", "value", "isUnstated", "reasoningTokens"]);
  const walk = (value: object, path: readonly string[]): (readonly string[])[] =>
    Object.entries(value).flatMap(([key, member]) => {
      if (free.has(key) && path.length > 0) return [];
      const here = [...path, key];
      const isOpen = typeof member === "object" && member !== null && !Array.isArray(member) && !free.has(key);
      return [here, ...(isOpen && !["input"].includes(path.at(-1) ?? "") ? walk(member, here) : [])];
    });
  return walk(fact, []).filter((path) => path.join(".") !== "outcome.value");
}

function without(value: object, [key = "", ...rest]: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      name !== key ? [[name, member]] : rest.length === 0 ? [] : [[name, without(member as object, rest)]],
    ),
  );
}
