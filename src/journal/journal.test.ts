import { describe, expect, test } from "vitest";
import type { Host } from "../host/host.ts";
import type { Fact } from "../protocol/fact.ts";
import { noUsage } from "../protocol/usage.ts";
import { memoryHost } from "../testing/memory-host.ts";
import { Redactor } from "../util/redactor.ts";
import { sha256 } from "../util/sha256.ts";
import { FolderPlace, keyOf, userStore } from "./folder-store.ts";
import { JournalError } from "./journal.ts";
import * as reading from "./read-journal.ts";
import type { RecordReader } from "./record-place.ts";
import { RunSecrets } from "./run-secrets.ts";
import { UnreadableJournal } from "./unreadable-journal.ts";

const id = "20260101-000000-abcdef";
const directory = `/home/user/.local/state/llm-do/runs/${keyOf({ root: "/work" }, false)}/${id}`;
const secret = "s3cr3t-value-of-a-key";

const known = [{ name: "API_KEY", value: secret }];

async function look<T>({ files }: Host, use: (record: RecordReader) => Promise<T>): Promise<T> {
  return use(new FolderPlace(id, await files.openOwn(directory)));
}

const readJournal = (host: Host) => look(host, reading.readJournal);
const readJournalEnds = (host: Host) => look(host, reading.readJournalEnds);
const readRecord = (host: Host, secrets = known) => look(host, (record) => reading.readRecord(record, secrets));
const readFacts = async (host: Host) => (await readRecord(host)).facts;

function setUp() {
  const host = memoryHost();
  const secrets = new RunSecrets(() => host.createKey());
  const redactor = new Redactor(known, secrets);
  const program = { root: "/work" };
  const create = () => userStore(host).create({ id, program, redactor, secrets });
  return { host, open: async () => (await create()).journal };
}

function result(value: string): Fact {
  return {
    type: "result",
    callPath: "main/0.tool",
    key: "tool",
    kind: "tool",
    outcome: { type: "value", value: { ok: true, value } },
  };
}

/** Never a valid one. */
function token(letter: string): string {
  return `ghp_${letter.repeat(36)}`;
}

async function dropSecrets(host: Host): Promise<void> {
  for (const name of ["secrets.jsonl", "private"]) await host.files.remove(`${directory}/${name}`);
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
  { type: "code-call", callPath: "main/0.t", key: "call t d 1", path: "main/0.t/0.t" },
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

  test("holds no known secret, neither in lines nor in blobs, and keeps what identifies a fact", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append({ ...result(`${secret} ${"x".repeat(20_000)}`), digest: secret } as Fact);
    journal.append(result(`key: ${secret}`));
    await journal.close();
    const { entries } = await readJournal(host);
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

  test("tells secrets of one shape apart, and gives them back with the kept values alone", async () => {
    const { host, open } = setUp();
    const texts = [`one ${token("a")} two ${token("b")}`, `again ${token("a")}, and ${secret}`];
    const journal = await open();
    for (const text of texts) journal.append(result(text));
    await journal.close();
    const lines = await host.files.readText(`${directory}/journal.jsonl`);
    const [one, two, again] = [...lines.matchAll(/⟦secret:github-token:([0-9a-f]{6})⟧/g)].map(([, id]) => id);
    expect([one === two, one === again]).toEqual([false, true]);
    expect(lines).not.toContain("ghp_");
    expect(await readRecord(host)).toMatchObject({ facts: texts.map(result), isWhole: true });
    const rotated = await readRecord(host, [{ name: "API_KEY", value: "another-value" }]);
    expect(rotated.facts[1]).toEqual(result(`again ${token("a")}, and another-value`));
    await dropSecrets(host);
    const { facts: gone, isWhole } = await readRecord(host);
    expect({ gone, isWhole }).toEqual({
      gone: [
        result(`one ⟦secret:github-token:${one}⟧ two ⟦secret:github-token:${two}⟧`),
        result(`again ⟦secret:github-token:${one}⟧, and ⟦secret:API_KEY⟧`),
      ],
      isWhole: false,
    });
  });

  test("takes a token that stands in content for text, in values and in keys", async () => {
    const { host, open } = setUp();
    const journal = await open();
    const texts = ["⟦secret:API_KEY⟧", "⟦~secret:API_KEY⟧ ⟦~~secret:", "⟦secret:", `⟦${secret}`, `${token("a")}⟦secret:x⟧`];
    for (const text of texts) journal.append(result(text));
    const keyed = { ok: true, value: { "⟦secret:API_KEY⟧": 1, [secret]: 2, $blob: "x", $private: "y" } };
    journal.append({ ...result(""), outcome: { type: "value", value: keyed } } as Fact);
    await journal.close();
    const { facts: read } = await readRecord(host);
    expect(read).toEqual([...texts.map(result), { ...result(""), outcome: { type: "value", value: keyed } }]);
  });

  test("restores no name that its run did not record", async () => {
    const { host, open } = setUp();
    const journal = await open();
    journal.append(result(`it is ${token("a")}`));
    await journal.close();
    const path = `${directory}/journal.jsonl`;
    host.put(path, (await host.files.readText(path)).replace("it is", "⟦secret:API_KEY⟧"));
    expect(JSON.stringify(await readFacts(host))).not.toContain(secret);
  });

  test("keeps a file with a secret as it is, apart from the other files", async () => {
    const { host, open } = setUp();
    const bytes = Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from(token("a")), Buffer.alloc(10_000)]);
    const part = { type: "file", name: "a.bin", mediaType: "application/octet-stream", bytes: bytes.length };
    const file = { ...part, sha256: sha256(bytes), data: bytes.toString("base64") };
    const fact = { ...result(""), outcome: { type: "value", value: { ok: true, value: file } } } as unknown as Fact;
    const journal = await open();
    journal.append(fact);
    await journal.close();
    expect(await host.files.names(`${directory}/blobs`)).toEqual([]);
    expect(await readFacts(host)).toEqual([fact]);
    const [name = ""] = await host.files.names(`${directory}/private`);
    host.put(`${directory}/private/${name}`, "something else");
    await expect(readFacts(host)).rejects.toThrow(/journal\.jsonl:1: the private file .* was changed/);
    host.put(`${directory}/secrets.jsonl`, "nonsense\n");
    await expect(readFacts(host)).rejects.toThrow(/secrets\.jsonl:1: this line is not a key of a run/);
    await dropSecrets(host);
    const gone = Buffer.from("⟦secret:file⟧").toString("base64");
    expect(await readFacts(host)).toMatchObject([{ outcome: { value: { value: { ...file, data: gone } } } }]);
  });

  test("keeps no secrets where it holds none", async () => {
    const { host, open } = setUp();
    const journal = await open();
    for (const fact of facts) journal.append(fact);
    await journal.close();
    expect(await host.files.kind(`${directory}/secrets.jsonl`)).toBeUndefined();
    expect(await host.files.kind(`${directory}/private`)).toBeUndefined();
  });

  test("goes on with tokens alone where secrets cannot be written", async () => {
    const { host, open } = setUp();
    host.setFaults((operation, path) => (operation === "append" && path.endsWith("/secrets.jsonl") ? "ENOSPC" : undefined));
    const journal = await open();
    for (const _ of [1, 2]) journal.append(result(token("a")));
    await journal.written({ durable: true });
    expect(await journal.close()).toBeUndefined();
    expect(await readRecord(host)).toMatchObject({ facts: [{ type: "result" }, { type: "result" }], isWhole: false });
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
