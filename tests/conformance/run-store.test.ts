import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Host } from "../../src/host/host.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { OwnFolder } from "../../src/host/own-files/own-folder.ts";
import { RunSecrets } from "../../src/journal/run-secrets.ts";
import { namedStore, userStore } from "../../src/journal/stores/folder-store.ts";
import { memoryStore } from "../../src/journal/stores/memory-store.ts";
import type { RecordPlace } from "../../src/journal/stores/record-place.ts";
import type { RunStore } from "../../src/journal/stores/store.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { Redactor } from "../../src/util/secrets/redactor.ts";
import { describeStore, type Open } from "./run-store-contract.ts";

async function nodeHost(): Promise<Host> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "llm-do-store-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return createNodeHost({ environment: { LLM_DO_STATE_DIR: join(folder, "state") }, workingDirectory: folder });
}

/** Its time passes: watchers sleep. */
function inMemory(): Host {
  return { ...memoryHost(), clock: createNodeHost().clock };
}

const stores: Readonly<Record<string, () => Promise<Open>>> = {
  "the user's, in memory": async () => {
    const host = inMemory();
    return (self, isRunning = () => false) => userStore({ ...host, processes: { self, isRunning } });
  },
  "the user's, on disk": async () => {
    const host = await nodeHost();
    return (self, isRunning = () => false) => userStore({ ...host, processes: { self, isRunning } });
  },
  "a named one, on disk": async () => {
    const host = await nodeHost();
    const path = join(host.workingDirectory, "shared");
    return (self, isRunning = () => false) => namedStore({ ...host, processes: { self, isRunning } }, path);
  },
  "one without files": async () => {
    const host = inMemory();
    const processes = { self: "", isRunning: (_: string): boolean | undefined => false };
    const store = memoryStore({ ...host, processes });
    return (self, isRunning = () => false) => {
      Object.assign(processes, { self, isRunning });
      return store;
    };
  },
};

/** Records of these stores lie in places, which can be written. */
async function tear(store: RunStore, run: string, bytes: number): Promise<void> {
  await store.look(run, async (record) => {
    const text = (await record.readLog("journal.jsonl")) ?? "";
    await (record as RecordPlace).replaceLog("journal.jsonl", text.slice(0, -bytes));
  });
}

for (const [name, open] of Object.entries(stores)) describeStore(name, open, { tear });

/** Calls `onList` for each listing of the folder, and of those in it. */
function watchListings(folder: OwnFolder, onList: () => void): OwnFolder {
  return new Proxy(folder, {
    get: (target, name: keyof OwnFolder) => {
      const value: unknown = target[name];
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]) => {
        if (name === "entries") onList();
        const result = value.apply(target, args);
        return name === "open" || name === "create" ? result.then((inner: OwnFolder) => watchListings(inner, onList)) : result;
      };
    },
  });
}

test.for(["named", "the user's"])(
  "a run begins without a listing of the records before it, in a store that is %s",
  async (kind) => {
    const host = await nodeHost();
    let listings = 0;
    const openOwn: Host["files"]["openOwn"] = async (...args) =>
      watchListings(await host.files.openOwn(...args), () => {
        listings++;
      });
    const watched = { ...host, files: { ...host.files, openOwn } };
    const store = kind === "named" ? namedStore(watched, join(host.workingDirectory, "shared")) : userStore(watched);
    const begin = async (id: string) => {
      const secrets = new RunSecrets(() => "0".repeat(64));
      const program = { root: "/work", name: "p" };
      await (await store.create({ id, program, redactor: new Redactor([], secrets), secrets })).journal.close();
    };
    await begin("20260101-000000-aaaaaa");
    listings = 0;
    for (const id of ["20260101-000001-bbbbbb", "20260101-000002-cccccc"]) await begin(id);
    expect(listings).toBe(0);
  },
);
