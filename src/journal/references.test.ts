import { expect, test } from "vitest";
import type { Host } from "../host/host.ts";
import type { Fact } from "../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import { noUsage } from "../protocol/usage.ts";
import { memoryHost } from "../testing/memory-host.ts";
import { Redactor } from "../util/secrets/redactor.ts";
import * as reading from "./read-journal.ts";
import { RunSecrets } from "./run-secrets.ts";
import { FolderPlace, keyOf, userStore } from "./stores/folder-store.ts";
import type { RecordReader } from "./stores/record-place.ts";

const id = "20260101-000000-abcdef";
const directory = `/home/user/.local/state/llm-do/runs/${keyOf({ root: "/work" }, false)}/${id}`;
const path = `${directory}/journal.jsonl`;
const secret = "s3cr3t-value-of-a-key";
const known = [{ name: "API_KEY", value: secret }];

function result(callPath: string, kind: "model" | "tool", value: object): Fact {
  return { type: "result", callPath, key: kind, kind, outcome: { type: "value", value: value as JsonObject } };
}

function request(messages: readonly Message[]): Fact {
  const detail = { turn: 2, model: "m", messages: messages as unknown as JsonValue };
  return { type: "intent", callPath: "main", key: "model 2.1", kind: "model", digest: "d", sideEffect: false, detail };
}

const call = (id: string) => ({ type: "tool-call", id, name: "look", args: { token: secret } }) as const;
const part = (id: string, value: JsonValue) => ({ type: "tool-result", id, name: "look", result: { ok: true, value } }) as const;

/** With a secret and a long text. */
const results = [part("a", `found ${secret}`), part("b", "x".repeat(9000)), part("c", "whole")];
const message: Message = { role: "assistant", parts: [{ type: "text", text: "I look" }, call("a"), call("b"), call("c")] };
const done: readonly Fact[] = [
  result("main", "model", { message, usage: noUsage, finish: "tool-calls", bound: { type: "model" } }),
  ...results.map((one, index) => result(`main/${index}.look`, "tool", one.result)),
];
const cut = part("c", "cut");
/** An answer with calls, their results, and the next request, in which one result is cut. */
const turn = [
  ...done,
  request([message, { role: "tool", parts: results.with(2, cut) }, { role: "user", parts: [{ type: "text", text: "go on" }] }]),
  request([]),
];

async function look<T>({ files }: Pick<Host, "files">, use: (record: RecordReader) => Promise<T>): Promise<T> {
  return use(new FolderPlace(id, await files.openOwn(directory)));
}

const readJournal = (host: Host) => look(host, reading.readJournal);
const readRecord = (host: Host) => look(host, (record) => reading.readRecord(record, known));

async function write(facts: readonly Fact[]) {
  const host = memoryHost();
  const secrets = new RunSecrets(() => host.createKey());
  const redactor = new Redactor(known, secrets);
  const { journal } = await userStore(host).create({ id, program: { root: "/work" }, redactor, secrets });
  for (const fact of facts) journal.append(fact);
  await journal.close();
  return { host, lines: (await host.files.readText(path)).trimEnd().split("\n") };
}

test("a request refers to answers and results that earlier entries have", async () => {
  const { host, lines } = await write(turn);
  const written = lines.map((line) => JSON.parse(line));
  expect(written[4]).toMatchObject({ v: 3, detail: { messages: [0, { role: "tool", parts: [1, 2, cut] }, {}] } });
  // Older versions read what they know, and refuse the rest.
  expect(written.map(({ v }) => v)).toEqual([2, 2, 2, 2, 3, 2]);
  expect((await readRecord(host)).facts).toEqual(turn);
});

test("a request is read as one without references is", async () => {
  const { host } = await write(turn);
  const { entries } = await readJournal(host);
  const old = memoryHost();
  old.put(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  expect(entries.every(({ v }) => v === 2)).toBe(true);
  expect((await readJournal(old)).entries).toEqual(entries);
});

test("a result that answers another call than that at its place is written once more", async () => {
  const swapped: Message = { role: "tool", parts: results.toReversed() };
  const facts = [...done, request([message, swapped]), request([swapped])];
  const { host, lines } = await write(facts);
  expect(JSON.parse(lines[4] ?? "")).toMatchObject({ v: 3, detail: { messages: [0, { parts: [{ id: "c" }, 2, { id: "a" }] }] } });
  expect(JSON.parse(lines[5] ?? "")).toMatchObject({ v: 2 });
  expect((await readRecord(host)).facts).toEqual(facts);
});

test.each([
  ["an entry that follows", [4]],
  ["an entry of another kind", [1]],
  ["no entry", [0.5]],
  ["a result among messages without its call", [{ role: "tool", parts: [1] }]],
  ["an answer among results", [0, { role: "tool", parts: [0] }]],
])("a reference to %s is damage", async (_, messages) => {
  const { host, lines } = await write(turn);
  const damaged = { ...JSON.parse(lines[4] ?? ""), detail: { turn: 2, model: "m", messages } };
  host.put(
    path,
    lines
      .with(4, JSON.stringify(damaged))
      .map((line) => `${line}\n`)
      .join(""),
  );
  expect([...(await readJournal(host)).problems.keys()]).toEqual([4]);
  await expect(readRecord(host)).rejects.toThrow(/journal\.jsonl:5: .*entry [0-9.]+/);
});
