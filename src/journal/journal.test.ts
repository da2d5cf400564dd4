import { describe, expect, test } from "vitest";
import {
  directory,
  facts,
  readFacts,
  readJournal,
  readJournalEnds,
  readRecord,
  result,
  secret,
  setUp,
  token,
} from "../../tests/conformance/journal-bench.ts";
import type { Fact } from "../protocol/fact.ts";
import { noUsage } from "../protocol/usage.ts";
import { sha256 } from "../util/sha256.ts";
import { JournalError } from "./journal.ts";
import { UnreadableJournal } from "./unreadable-journal.ts";

describe("a journal", () => {
  test("gives back the facts that were appended, in their order", async () => {
    const { host, open } = setUp();
    const journal = await open();
    for (const fact of facts) journal.append(fact);
    expect(await journal.close()).toBeUndefined();
    expect(await readFacts(host)).toEqual(facts);
  });

  test("has a fact in the file once it is written", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append(result("one"));
    await journal.written({ durable: true });
    expect(await host.files.readText(`${directory}/journal.jsonl`)).toContain('"one"');
    await journal.close();
  });

  test("writes the facts of one turn of the event loop together, and the first at once", async () => {
    const { host, open } = setUp();
    const journal = await open();
    const lines = async () => (await host.files.readText(`${directory}/journal.jsonl`)).split("\n").length - 1;
    journal.append(result("first"));
    expect(await lines()).toBe(1);
    for (const text of ["a", "b", secret, "x".repeat(9000), "c"]) journal.append(result(text));
    await Promise.all([true, false].map((shared) => journal.written({ durable: false, shared })));
    expect(await lines()).toBe(6);
    journal.append(result("nobody waits for it"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await lines()).toBe(7);
    await journal.close();
    const texts = ["first", "a", "b", secret, "x".repeat(9000), "c", "nobody waits for it"];
    expect(await readFacts(host)).toEqual(texts.map(result));
  });

  test("has a fact as it was when it was appended", async () => {
    const { host, open } = setUp();
    const journal = await open();
    const fact = structuredClone(result("as it was")) as { outcome: { value: { value: string } } } & Fact;
    journal.append(fact);
    fact.outcome.value.value = "changed";
    await journal.close();
    expect(await readFacts(host)).toEqual([result("as it was")]);
  });

  test.each([
    ["a plain text", "plain\n\u0000\u2028é"],
    ["a known secret", secret],
    ["a credential", token("a")],
    ["what looks like a token", "⟦secret:API_KEY⟧"],
    ["what looks like a reference", "$blob"],
    ["a long text", "x".repeat(9000)],
  ])("gives back %s, in a value and in a key", async (_, text) => {
    const { host, open } = setUp();
    const journal = await open();
    const value = { ok: true, value: { [text.slice(0, 50)]: [text], n: 1 } };
    const given: Fact[] = [result("plain"), { ...result(""), outcome: { type: "value", value } } as Fact, result(text)];
    for (const fact of given) journal.append(fact);
    expect(await journal.close()).toBeUndefined();
    expect(await readFacts(host)).toEqual(given);
  });

  test("takes nothing after the end of the run", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append({ type: "run-end", stopReason: "done", usage: noUsage, denied: 0 });
    journal.append(result("late"));
    await expect(journal.written({ durable: false })).rejects.toThrow(JournalError);
    await journal.close();
    expect((await readJournal(host)).entries).toHaveLength(1);
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
      const { entries, torn } = await readJournal(host);
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
    await expect(readFacts(host)).rejects.toThrow(UnreadableJournal);
    await expect(readFacts(host)).rejects.toThrow(message);
  });

  test("names the field that is gone, for every field that a reader relies on", async () => {
    const { host } = setUp();
    for (const fact of facts) {
      for (const path of requiredPaths(fact)) {
        host.put(`${directory}/journal.jsonl`, `${JSON.stringify(without({ v: 2, n: 0, time: 0, ...fact }, path))}\n`);
        const read = readFacts(host);
        await expect(read, `${fact.type} without ${path.join(".")}`).rejects.toThrow(/:1: (?:the field `|this line is not)/);
      }
    }
  });

  test("keeps files and long texts once each, under their digests, and puts them back", async () => {
    const { host, open } = setUp();
    const journal = await open();
    const long = "x".repeat(20_000);
    for (const _ of [1, 2]) journal.append(result(long));
    const bytes = Buffer.from("picture".repeat(2000));
    const file = {
      type: "file",
      name: "a.png",
      mediaType: "image/png",
      ...{ bytes: bytes.length, sha256: sha256(bytes), data: bytes.toString("base64") },
    };
    const written = { $blob: "not one of ours", bytes: 1 };
    const value = { ok: true, value: { file, written } } as never;
    for (const _ of [1, 2]) journal.append({ ...result(""), outcome: { type: "value", value } } as Fact);
    file.data = "";
    journal.append({ ...result(""), outcome: { type: "value", value } } as Fact);
    file.data = bytes.toString("base64");
    await journal.close();
    expect(await host.files.names(`${directory}/blobs`)).toHaveLength(2);
    const read = await readFacts(host);
    expect(read[0]).toEqual(result(long));
    for (const index of [2, 3]) expect(read[index]).toMatchObject({ outcome: { value: { value: { file, written } } } });
    expect(read[4]).toMatchObject({ outcome: { value: { value: { file: { ...file, data: "" } } } } });
  });

  test("of version 1 is read to be shown, and not to be replayed", async () => {
    const { host } = setUp();
    const old = [
      { v: 1, n: 0, time: 0, type: "run-start", runId: "r", program: "p" },
      { v: 1, n: 1, time: 0, type: "intent", callPath: "main/0.t", step: 4, kind: "tool", sideEffect: true, detail: {} },
      { v: 1, n: 2, time: 0, type: "result", callPath: "main/0.t", step: 4, kind: "tool", detail: { result: { ok: true } } },
    ];
    host.put(`${directory}/journal.jsonl`, old.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    const { version, entries } = await readJournal(host);
    expect({ version, entries }).toMatchObject({
      version: 1,
      entries: [{ type: "run-start" }, { key: "4" }, { key: "4", outcome: { type: "value", value: { ok: true } } }],
    });
    expect(await readJournalEnds(host)).toEqual({ version: 1, first: entries[0], last: entries[2] });
    await expect(readRecord(host)).rejects.toThrow(
      /:1: this journal has version 1: it can be shown, and not resumed or replayed/,
    );
  });

  test("shows its first and last entry without what lies between them, however long its lines are", async () => {
    const { host, open } = setUp();
    const long = { ...result(""), outcome: { type: "value", value: { ok: true, value: Array(20_000).fill("word") } } } as Fact;
    const journal = await open();
    for (const fact of [long, result("between"), long]) journal.append(fact);
    await journal.close();
    const path = `${directory}/journal.jsonl`;
    const text = await host.files.readText(path);
    const { entries } = await readJournal(host);
    host.put(path, text.replace("between", "betw\neen"));
    expect(await readJournalEnds(host)).toEqual({ version: 2, first: entries[0], last: entries[2] });
    host.put(path, `${text}{"v":2,"n":3`);
    expect(await readJournalEnds(host)).toEqual({ version: 2, first: entries[0], last: entries[2] });
    host.put(path, "");
    expect(await readJournalEnds(host)).toEqual({ version: 2 });
    host.put(path, `${text}nonsense\n`);
    await expect(readJournalEnds(host)).rejects.toThrow(/journal\.jsonl:last line: this line is not JSON/);
  });

  test("says which line's blob is gone", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append(result("x".repeat(20_000)));
    await journal.close();
    await host.files.remove(`${directory}/blobs`);
    await expect(readFacts(host)).rejects.toThrow(/journal\.jsonl:1: /);
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
  const free = new Set(["args", "facts", "detail", "isUnstated", "reasoningTokens"]);
  const walk = (value: object, path: readonly string[]): (readonly string[])[] =>
    Object.entries(value).flatMap(([key, member]) => {
      if (free.has(key) && path.length > 0) return [];
      const here = [...path, key];
      const isOpen = typeof member === "object" && member !== null && !Array.isArray(member) && !free.has(key);
      return [here, ...(isOpen && !["input"].includes(path.at(-1) ?? "") ? walk(member, here) : [])];
    });
  return walk(fact, []).filter((path) => path.join(".") !== "outcome.value.value");
}

function without(value: object, [key = "", ...rest]: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      name !== key ? [[name, member]] : rest.length === 0 ? [] : [[name, without(member as object, rest)]],
    ),
  );
}
