import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { JournalError } from "../../src/journal/journal.ts";
import { readJournal } from "../../src/journal/read-journal.ts";
import { RunSecrets } from "../../src/journal/run-secrets.ts";
import type { LeaseOptions, OpenRecord, RunStore, RunSummary } from "../../src/journal/stores/store.ts";
import type { Fact } from "../../src/protocol/fact.ts";
import { noUsage } from "../../src/protocol/usage.ts";
import { Redactor } from "../../src/util/secrets/redactor.ts";

const id = (n: number) => `20260101-00000${n}-abcdef`;
const program = { root: "/work", name: "p" };
const secret = `ghp_${"aB3d".repeat(9)}`;

function begin(run: string, owner = "memory 1"): Fact {
  return {
    ...{ type: "run-start", runId: run, program: "p", programDigest: "d", entry: "main", mode: "prompt", version: "1" },
    ...{ onDenied: "return", limits: {}, owner, input: { input: { input: "go" }, files: [], fragments: [] } },
  };
}

const attempt = (owner: string): Fact => ({
  ...{ type: "attempt", number: 2, voids: [], programDigest: "d", mode: "prompt", onDenied: "return", limits: {} },
  ...{ version: "1", owner },
});
const said = (text: string): Fact => ({
  ...{ type: "result", callPath: "main/0.t", key: "tool", kind: "tool" },
  outcome: { type: "value", value: { ok: true, value: text } },
});
const end = (stopReason: "done" | "suspended"): Fact => ({ type: "run-end", stopReason, usage: noUsage, denied: 0 });

/** Returns the store, as processes of this name see it; `isRunning`: of the others. */
export type Open = (self: string, isRunning?: (owner: string) => boolean | undefined) => RunStore;

/** Sizes of a slice; `npm run test:long` has the whole. */
const size =
  process.env["LLM_DO_STORE_SIZE"] === "whole"
    ? { megabytes: 100, facts: 100_000, runs: 10_000 }
    : { megabytes: 5, facts: 5_000, runs: 200 };

export interface StoreTraits {
  /** True: the store knows by itself whether a run is executed, on whichever machine. Default false. */
  readonly hasTimedLeases?: boolean;
  /** Absent: no fact is ever written in part. */
  readonly tear?: (store: RunStore, run: string, bytes: number) => Promise<void>;
}

function create(store: RunStore, run: string): Promise<OpenRecord> {
  const secrets = new RunSecrets(() => "0".repeat(64));
  return store.create({ id: run, program, redactor: new Redactor([], secrets), secrets });
}

function lease(owner: string, takeOver = false): LeaseOptions {
  const createRedactor = (secrets: RunSecrets) => new Redactor([], secrets);
  return { known: [], takeOver, createRedactor, begin: () => [attempt(owner)] };
}

async function record(store: RunStore, run: string, ...facts: readonly Fact[]): Promise<void> {
  const { journal } = await create(store, run);
  for (const fact of [begin(run), ...facts]) journal.append(fact);
  expect(await journal.close()).toBeUndefined();
}

async function listed(store: RunStore, filter?: Parameters<RunStore["list"]>[0]): Promise<readonly RunSummary[]> {
  const runs: RunSummary[] = [];
  for await (const run of store.list(filter)) runs.push(run);
  return runs;
}

/** The contract of `RunStore`: what every store of records does. `tear`: cuts the last bytes off a journal, as a loss of power does. */
export function describeStore(name: string, open: () => Promise<Open>, { tear, hasTimedLeases = false }: StoreTraits): void {
  describe(`a store of records: ${name}`, () => {
    test("gives back facts, long values, secrets and files of a run", async () => {
      const store = (await open())("memory 1");
      const bytes = Buffer.from("picture".repeat(200_000));
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const file = { type: "file", name: "a.png", mediaType: "image/png", bytes: bytes.length, sha256 };
      const value = { ok: true, value: { ...file, data: bytes.toString("base64") } };
      const facts = [
        said("x".repeat(20_000)),
        said(secret),
        { ...said(""), outcome: { type: "value", value } } as unknown as Fact,
      ];
      await record(store, id(1), ...facts, end("done"));
      const read = await store.read(id(1));
      expect(read.facts).toEqual([begin(id(1)), ...facts, end("done")]);
      expect(read.isWhole).toBe(true);
      const text = await store.look(id(1), (place) => place.readLog("journal.jsonl"));
      expect(text).not.toContain(secret);
    });

    test("keeps files of a run under one name each, and nothing under what is none", async () => {
      const store = (await open())("memory 1");
      const { journal, keepArtifacts, results } = await create(store, id(1));
      journal.append(begin(id(1)));
      const artifact = { type: "file", callPath: "main", mediaType: "text/plain", bytes: 1, sha256: "0", data: "eA==" } as const;
      const kept = await keepArtifacts(["a.txt", "../b.txt", "/etc/c", "..", "d/e"].map((name) => ({ ...artifact, name })));
      expect(kept.map(({ path }) => path !== undefined)).toEqual([true, false, false, false, false]);
      await results.keep("r.txt", "whole");
      expect([await results.read("r.txt"), await results.read("../journal.jsonl")]).toEqual(["whole", undefined]);
      await journal.close();
    });

    test("goes on behind what is recorded", async () => {
      const opened = await open();
      await record(opened("memory 1"), id(1), said("one"), said("two"));
      const place = opened("memory 2");
      const whole = await place.look(id(1), (reader) => reader.readLog("journal.jsonl"));
      const lines = (whole ?? "").split("\n").length - 1;
      const { journal, facts } = await place.open(id(1), lease("memory 2"));
      expect(facts).toHaveLength(lines + 1);
      journal.append(said("three"));
      expect(await journal.close()).toBeUndefined();
      expect((await place.read(id(1))).facts.at(-1)).toEqual(said("three"));
    });

    test("lets one process alone execute a run", async () => {
      const opened = await open();
      const { journal } = await create(opened("memory 1"), id(1));
      journal.append(begin(id(1)));
      await journal.written({ durable: true });
      await expect(opened("memory 2", () => true).open(id(1), lease("memory 2"))).rejects.toThrow(
        "another process executes this run",
      );
      const unseen = hasTimedLeases ? "another process executes this run" : "--take-over";
      await expect(opened("memory 2", () => undefined).open(id(1), lease("memory 2"))).rejects.toThrow(unseen);
      await expect(opened("memory 2", () => true).remove(id(1))).rejects.toThrow("a process executes it");
      opened("memory 1");
      await journal.close();
    });

    test("ends a process that lost its lease before its next effect, and leaves out what it appends", async () => {
      const opened = await open();
      const first = await create(opened("memory 1"), id(1));
      first.journal.append(begin(id(1)));
      first.journal.append(said("before"));
      await first.journal.written({ durable: true });
      const second = await opened("memory 2", () => undefined).open(id(1), lease("memory 2", true));
      first.journal.append(said("late"));
      await expect(first.journal.written({ durable: true })).rejects.toThrow(/lost its lease: another process goes on with it/);
      expect(first.lost.aborted).toBe(true);
      expect(await first.journal.close()).toBeInstanceOf(JournalError);
      second.journal.append(said("after"));
      second.journal.append(end("done"));
      expect(await second.journal.close()).toBeUndefined();
      const { facts } = await opened("memory 3").read(id(1));
      expect(facts.slice(1)).toEqual([said("before"), attempt("memory 2"), said("after"), end("done")]);
    });

    test("takes one of two that go on with a run at once", async () => {
      const opened = await open();
      await record(opened("memory 1"), id(1));
      const rivals = await Promise.allSettled(
        ["memory 2", "memory 3"].map((self) => opened(self, (owner) => owner !== "memory 1").open(id(1), lease(self))),
      );
      expect(rivals.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    });

    test("takes answers without a lease, and not from a run that is executed", async () => {
      const opened = await open();
      await record(opened("memory 1"), id(1), end("suspended"));
      const decision = { type: "approve" } as const;
      const answer: Fact = { type: "answer", callPath: "main/0.t", key: "1", digest: "d", decision };
      const { takeOver: _, ...options } = { ...lease(""), begin: () => [answer] };
      const store = opened("memory 2");
      for (const count of [3, 4]) expect(await store.answer(id(1), options)).toHaveLength(count);
      const { journal, facts } = await store.open(id(1), lease("memory 2"));
      expect(facts.map(({ type }) => type)).toEqual(["run-start", "run-end", "answer", "answer", "attempt"]);
      await expect(opened("memory 3", () => true).answer(id(1), options)).rejects.toThrow("another process executes this run");
      opened("memory 2");
      await journal.close();
    });

    test("lists the newest run first, by program, with how it ended", async () => {
      const store = (await open())("memory 1");
      expect(await listed(store)).toEqual([]);
      await record(store, id(1), end("done"));
      await new Promise((resolve) => setTimeout(resolve, 5));
      await record(store, id(2), said("x"));
      const runs = await listed(store);
      expect(new Set(runs.map((run) => run.id))).toEqual(new Set([id(1), id(2)]));
      expect(Object.fromEntries(runs.map((run) => [run.id, run.ends?.last?.type]))).toEqual({
        [id(1)]: "run-end",
        [id(2)]: "result",
      });
      expect(runs.every(({ root }) => root === "/work")).toBe(true);
      expect(await listed(store, { program: { root: "/other", name: "o" } })).toEqual([]);
      expect((await listed(store, { id: id(1) })).map((run) => run.id)).toEqual([id(1)]);
      expect(await store.roots()).toEqual(["/work"]);
      for await (const { id: newest } of store.list()) {
        expect(newest).toBe(id(2));
        break;
      }
    });

    test("yields entries as they are recorded", async () => {
      const store = (await open())("memory 1");
      const { journal } = await create(store, id(1));
      journal.append(begin(id(1)));
      journal.append(said("one"));
      await journal.close();
      const controller = new AbortController();
      const seen: string[] = [];
      for await (const { type } of store.watch(id(1), 1, controller.signal)) {
        seen.push(type);
        controller.abort();
      }
      expect(seen).toEqual(["result"]);
    });

    test("removes all of a record, and none that waits", async () => {
      const opened = await open();
      const store = opened("memory 1");
      await record(store, id(1), said(secret), end("done"));
      await record(store, id(2), end("suspended"));
      await store.remove(id(1));
      await expect(store.remove(id(2))).rejects.toThrow("waits for answers");
      expect((await listed(store)).map((run) => run.id)).toEqual([id(2)]);
      for (const name of [id(1), "..", "../../x", ""])
        await expect(store.look(name, readJournal)).rejects.toThrow("there is no run");
      await expect(create(store, id(2))).rejects.toThrow(JournalError);
    });

    test("goes on after a last line that was cut off", async ({ skip }) => {
      if (!tear) return skip("it writes whole facts or none");
      const opened = await open();
      await record(opened("memory 1"), id(1), said("one"), said("two"));
      for (let bytes = 1; bytes < 40; bytes += 13) {
        await tear(opened("memory 2"), id(1), bytes);
        const torn = await opened("memory 2").read(id(1));
        expect(torn.torn).toBe(true);
        const { journal, facts } = await opened("memory 2").open(id(1), lease("memory 2"));
        expect(facts).toHaveLength(torn.facts.length + 1);
        journal.append(said("after"));
        expect(await journal.close()).toBeUndefined();
        const whole = await opened("memory 3").read(id(1));
        expect(whole.torn).toBe(false);
        expect(whole.facts.at(-1)).toEqual(said("after"));
      }
    });

    test("lets none of many stale owners write, and loses nothing of the last", async () => {
      const opened = await open();
      await record(opened("memory 1"), id(1));
      const owners: OpenRecord[] = [];
      for (let n = 2; n < 8; n++)
        owners.push(await opened(`memory ${n}`, () => undefined).open(id(1), lease(`memory ${n}`, true)));
      const last = owners.pop();
      await Promise.all(
        owners.map(async ({ journal, lost }) => {
          journal.append(said("stale"));
          await expect(journal.written({ durable: true })).rejects.toThrow(JournalError);
          expect(lost.aborted).toBe(true);
          await journal.close();
        }),
      );
      last?.journal.append(said("good"));
      expect(await last?.journal.close()).toBeUndefined();
      const { facts } = await opened("memory 9").read(id(1));
      expect(facts.filter(({ type }) => type === "result")).toEqual([said("good")]);
      expect(facts.filter(({ type }) => type === "attempt")).toHaveLength(6);
    });

    test("keeps secrets apart from entries, and gives them back to the run that goes on", async () => {
      const opened = await open();
      await record(opened("memory 1"), id(1), said(`token ${secret}`), said("x".repeat(9000) + secret));
      const { journal, facts, isWhole, redactor } = await opened("memory 2").open(id(1), lease("memory 2"));
      expect(isWhole).toBe(true);
      expect(facts.slice(1, 3)).toEqual([said(`token ${secret}`), said("x".repeat(9000) + secret)]);
      expect(redactor.text(secret)).not.toContain(secret);
      journal.append(said(`again ${secret}`));
      expect(await journal.close()).toBeUndefined();
      expect((await opened("memory 3").read(id(1))).facts.at(-1)).toEqual(said(`again ${secret}`));
      const text = await opened("memory 3").look(id(1), (place) => place.readLog("journal.jsonl"));
      expect(text).not.toContain(secret);
    });

    test("gives entries to several watchers while they are recorded, each once and in order", async () => {
      const opened = await open();
      const store = opened("memory 1");
      const { journal } = await create(store, id(1));
      journal.append(begin(id(1)));
      await journal.written({ durable: true });
      const controller = new AbortController();
      const watchers = [0, 0, 3].map(async (from) => {
        const seen: number[] = [];
        for await (const { n } of store.watch(id(1), from, controller.signal)) {
          seen.push(n);
          if (n === 20) break;
        }
        return seen;
      });
      for (let n = 1; n <= 20; n++) {
        journal.append(said(String(n)));
        if (n % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 30));
      }
      expect(await journal.close()).toBeUndefined();
      const all = Array.from({ length: 21 }, (_, n) => n);
      expect(await Promise.all(watchers)).toEqual([all, all, all.slice(3)]);
      controller.abort();
    });

    test(`keeps files of ${size.megabytes} MB`, async () => {
      const store = (await open())("memory 1");
      const bytes = Buffer.alloc(size.megabytes * 1_000_000, "0123456789abcdef!");
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const data = bytes.toString("base64");
      const value = {
        ok: true,
        value: { type: "file", name: "a.bin", mediaType: "application/x", bytes: bytes.length, sha256, data },
      };
      await record(store, id(1), { ...said(""), outcome: { type: "value", value } } as unknown as Fact, end("done"));
      const { facts } = await store.read(id(1));
      const kept = (facts[1] as unknown as { outcome: { value: { value: { data: string } } } }).outcome.value.value.data;
      expect(kept === data).toBe(true);
    });

    test(`keeps ${size.facts.toLocaleString("en")} facts of one run in their order`, async () => {
      const store = (await open())("memory 1");
      const { journal } = await create(store, id(1));
      journal.append(begin(id(1)));
      for (let n = 1; n < size.facts; n++) {
        journal.append(said(String(n)));
        if (n % 500 === 0) await journal.written({ durable: n % 5000 === 0 });
      }
      expect(await journal.close()).toBeUndefined();
      const { facts } = await store.read(id(1));
      expect(facts).toHaveLength(size.facts);
      expect(facts.every((fact, n) => n === 0 || JSON.stringify(fact) === JSON.stringify(said(String(n))))).toBe(true);
    });

    test(`lists ${size.runs.toLocaleString("en")} runs, each once and the newest first`, async () => {
      const store = (await open())("memory 1");
      const name = (n: number) => `20260101-000000-r${String(n).padStart(5, "0")}`;
      for (let from = 0; from < size.runs; from += 50)
        await Promise.all(
          Array.from({ length: Math.min(50, size.runs - from) }, (_, n) => record(store, name(from + n), end("done"))),
        );
      const runs = await listed(store);
      expect(runs).toHaveLength(size.runs);
      expect(new Set(runs.map((run) => run.id)).size).toBe(size.runs);
      expect(runs.every(({ began = 0 }, n) => n === 0 || began <= (runs[n - 1]?.began ?? 0))).toBe(true);
      expect(runs.every(({ ends }) => ends?.last?.type === "run-end")).toBe(true);
    });
  });
}
