import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { RunSecrets } from "../../src/journal/run-secrets.ts";
import type { RunStore } from "../../src/journal/stores/store.ts";
import { renewLeases } from "../../src/postgres/leases.ts";
import { PostgresStore } from "../../src/postgres/postgres-store.ts";
import type { RunPlace } from "../../src/postgres/run-place.ts";
import { RunQueue } from "../../src/postgres/run-queue.ts";
import type { Fact } from "../../src/protocol/fact.ts";
import { Redactor } from "../../src/util/secrets/redactor.ts";
import { describeStore, type Open } from "../conformance/run-store-contract.ts";
import { hasPostgres, useCluster } from "./cluster.ts";

const key = "ab".repeat(32);
/** A small disk is a file system in memory. */
const canMount =
  process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
const secret = `ghp_${"aB3d".repeat(9)}`;
const host = createNodeHost();
const said = (text: string): Fact => ({
  ...{ type: "result", callPath: "main/0.t", key: "tool", kind: "tool" },
  outcome: { type: "value", value: { ok: true, value: text } },
});

describe.skipIf(!hasPostgres)("a store in PostgreSQL (skipped where it is not installed)", () => {
  const cluster = useCluster();
  const database = () => cluster.create();

  async function open(url: string, more: { readonly key?: string; readonly self?: string } = { key }): Promise<PostgresStore> {
    const processes = { self: more.self ?? "process 1", isRunning: () => undefined };
    const store = await PostgresStore.open({ url, host: { ...host, processes }, ...(more.key ? { key: more.key } : {}) });
    onTestFinished(() => store.close().catch(() => undefined));
    return store;
  }

  const opened = async (): Promise<Open> => {
    const url = await database();
    const stores = new Map<string, RunStore>();
    for (let number = 1; number < 10; number++)
      stores.set(`memory ${number}`, await open(url, { key, self: `memory ${number}` }));
    return (self) => stores.get(self) as RunStore;
  };
  describeStore("PostgreSQL", opened, { hasTimedLeases: true });

  const id = "20260101-000001-abcdef";
  const begin: Fact = {
    ...{ type: "run-start", runId: id, program: "p", programDigest: "d", entry: "main", mode: "prompt", version: "1" },
    ...{ onDenied: "return", limits: {}, owner: "process 1", input: { input: { input: secret }, files: [], fragments: [] } },
  };
  const create = (store: RunStore, run = id) => {
    const secrets = new RunSecrets(() => "0".repeat(64));
    return store.create({ id: run, program: { root: "/work", name: "p" }, redactor: new Redactor([], secrets), secrets });
  };

  test("keeps no secret that the database could read, and says where none is kept", async () => {
    const url = await database();
    const store = await open(url);
    const { journal, notes } = await create(store);
    expect(notes).toEqual([]);
    journal.append(begin);
    expect(await journal.close()).toBeUndefined();
    expect((await store.read(id)).facts).toEqual([begin]);
    const dump = await cluster.psql("SELECT 1").then(() => store.look(id, (place) => place.readLog("journal.jsonl")));
    expect(dump).not.toContain(secret);
    const blind = await open(url, {});
    expect((await blind.read(id)).isWhole).toBe(false);
    await expect((await open(url, { key: "cd".repeat(32) })).read(id)).rejects.toThrow();
    const without = await create(await open(await database(), {}));
    expect(without.notes).toEqual([expect.stringContaining("LLM_DO_STORE_KEY is not set")]);
    await without.journal.close();
  });

  test("a renewal that arrives after the end of a lease does not take it back", async () => {
    const store = await open(await database());
    const { journal } = await create(store);
    journal.append(begin);
    expect(await renewLeases(store.database, [{ run: id, epoch: 1 }])).toEqual(new Set([id]));
    expect(await journal.close()).toBeUndefined();
    expect(await renewLeases(store.database, [{ run: id, epoch: 1 }])).toEqual(new Set());
    expect(await store.look(id, async ({ isExecuted }) => isExecuted)).toBe(false);
  });

  test("writes durable entries of several runs in one statement, in one round trip", async () => {
    const store = await open(await database());
    const others = ["20260101-000002-abcdef", "20260101-000003-abcdef"];
    const runs = await Promise.all([id, ...others].map((run) => create(store, run)));
    const writeAll = () =>
      Promise.all(
        runs.map(({ journal }) => {
          journal.append(said("text"));
          return journal.written({ durable: true });
        }),
      );
    await writeAll();
    const sent = vi.spyOn(pg.Client.prototype, "query");
    onTestFinished(() => sent.mockRestore());
    await writeAll();
    expect(sent.mock.calls.map(([query]) => query)).toEqual([expect.objectContaining({ name: "llm_do_facts" })]);
    sent.mockRestore();
    for (const { journal } of runs) expect(await journal.close()).toBeUndefined();
    expect((await store.read(others[0] ?? "")).facts).toEqual([said("text"), said("text")]);
  });

  test("an earlier lease of the same process writes nothing, also together with the one that holds", async () => {
    const store = await open(await database());
    const first = await create(store);
    first.journal.append(begin);
    await first.journal.written({ durable: true });
    const createRedactor = (secrets: RunSecrets) => new Redactor([], secrets);
    const second = await store.open(id, { known: [], takeOver: true, createRedactor, begin: () => [] });
    first.journal.append(said("late"));
    second.journal.append(said("after"));
    const written = [first, second].map(({ journal }) => journal.written({ durable: true }));
    expect((await Promise.allSettled(written)).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(first.lost.aborted).toBe(true);
    expect(await second.journal.close()).toBeUndefined();
    expect((await store.read(id)).facts).toEqual([begin, said("after")]);
  });

  test("goes on after its connections were cut, and loses and repeats nothing", async () => {
    const url = await database();
    const store = await open(url);
    const { journal } = await create(store);
    journal.append(begin);
    const cut = () =>
      cluster.psql(
        `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '${new URL(url).pathname.slice(1)}'`,
      );
    for (let number = 0; number < 200; number++) {
      journal.append(said(`${number} ${number % 20 === 0 ? secret : ""}`));
      if (number % 50 === 25) await Promise.all([cut(), journal.written({ durable: true })]);
      else if (number % 10 === 0) await journal.written({ durable: true });
    }
    expect(await journal.close()).toBeUndefined();
    const { facts, isWhole } = await store.read(id);
    expect(isWhole).toBe(true);
    expect(facts.slice(1)).toEqual(
      Array.from({ length: 200 }, (_, number) => said(`${number} ${number % 20 === 0 ? secret : ""}`)),
    );
  });

  test.skipIf(!canMount)(
    "waits for room where its disk is full, and loses and repeats nothing (skipped where nothing can be mounted)",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "llm-do-full-"));
      const nobody = execFileSync("id", ["-u", "nobody"], { encoding: "utf8" }).trim();
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=24m,mode=700,uid=${nobody}`, "tmpfs", folder]);
      await cluster.psql(`CREATE TABLESPACE full_disk LOCATION '${folder}'`);
      const url = await cluster.create("TABLESPACE full_disk");
      onTestFinished(async () => {
        await cluster.psql(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
        await cluster.psql("DROP TABLESPACE full_disk");
        execFileSync("umount", ["--lazy", folder]);
        await rm(folder, { recursive: true });
      });
      const store = await open(url);
      const queue = await RunQueue.open(store);
      onTestFinished(() => queue.close());
      const { journal } = await create(store);
      journal.append(begin);
      await journal.written({ durable: true });
      await store.database.query("CREATE TABLE filler (body text)");
      const fill = (rows: number) =>
        store.database.query("INSERT INTO filler SELECT repeat('x', 1900) FROM generate_series(1, $1::int)", [rows]).then(
          () => true,
          () => false,
        );
      for (const rows of [2000, 100, 4, 1]) while (await fill(rows));
      const run = { id: "20260101-000009-abcdef", program: "p", root: "/p", queue: "default", priority: 0 };
      const request = { text: randomBytes(1_000_000).toString("hex") };
      await expect(queue.submit({ ...run, request })).rejects.toThrow(
        /^the database postgres:.* is full: .*No space left on device/,
      );
      const texts = Array.from({ length: 40 }, (_, number) => `${number} ${"long ".repeat(200)}`);
      let isWritten = false;
      for (const text of texts) journal.append(said(text));
      const written = (async () => {
        await journal.written({ durable: true });
        isWritten = true;
      })();
      await setTimeout(600);
      expect(isWritten).toBe(false);
      await store.database.query("DROP TABLE filler");
      await written;
      expect(await journal.close()).toBeUndefined();
      expect((await store.read(id)).facts).toEqual([begin, ...texts.map(said)]);
      expect(await queue.submit({ ...run, request })).toBe(run.id);
    },
  );

  test("refuses a wrong address, a wrong key, and a database of a newer llm-do, without the password", async () => {
    await expect(open("postgres://test:hidden@127.0.0.1:1/x")).rejects.toThrow(
      /^the database postgres:\/\/127.0.0.1:1\/x cannot be used: .*ECONNREFUSED/,
    );
    await expect(open("mysql://x")).rejects.toThrow("this is no address of a database");
    await expect(open(`${cluster.url()}-none`)).rejects.toThrow(/does not exist/);
    await expect(open(await database(), { key: "short" })).rejects.toThrow("LLM_DO_STORE_KEY must be 64 hex digits");
    const url = await database();
    await open(url);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("INSERT INTO llm_do.migrations (number) VALUES (1000)");
    await client.end();
    await expect(open(url)).rejects.toThrow("the database is one of a newer llm-do (migration 1000");
  });

  test("sweeps contents that no run has any more, a day after they were written", async () => {
    const store = await open(await database());
    await create(store);
    const text = "x".repeat(30_000);
    await store.look(id, (place) => (place as RunPlace).writePart("blobs", "a".repeat(64), text));
    await store.database.query("INSERT INTO llm_do.blobs (digest, piece, body) VALUES ($1, 0, ''), ($2, 0, '')", ["b", "c"]);
    await store.database.query("UPDATE llm_do.blobs SET used = current_date - 2 WHERE digest <> 'c'");
    const left = async () =>
      (await store.database.query("SELECT digest FROM llm_do.blobs ORDER BY 1")).rows.map(({ digest }) => digest);
    await store.sweep();
    expect(await left()).toEqual(["a".repeat(64), "c"]);
    await store.database.query("DELETE FROM llm_do.runs");
    await store.sweep();
    expect(await left()).toEqual(["c"]);
  });

  test("three processes that open the queue of an empty database at once all take runs in", async () => {
    const url = await database();
    const submit = async (number: number) => {
      const queue = await RunQueue.open(await open(url));
      const run = { id: `20260101-00000${number}-abcdef`, program: "p", root: "/p", queue: "default", request: {}, priority: 0 };
      return queue.submit(run).finally(() => queue.close());
    };
    expect(await Promise.all([1, 2, 3].map(submit))).toHaveLength(3);
  });

  test("a store and a queue that serves take nine connections at most, with the thread of leases", async () => {
    const url = await database();
    const store = await open(url);
    const queue = await RunQueue.open(store, url);
    onTestFinished(() => queue.close());
    const place = { program: "p", root: "/p", queue: "default", request: {}, priority: 0 };
    const submit = (_: unknown, number: number) =>
      queue.submit({ id: `20260101-${String(number).padStart(6, "0")}-abcdef`, ...place });
    await Promise.all(Array.from({ length: 100 }, submit));
    const { rows } = await store.database.query("SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()");
    expect(Number(rows[0]?.["n"])).toBeLessThanOrEqual(5 + 2 + 1);
  });
});
