import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Host } from "../../src/host/host.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { namedStore, userStore } from "../../src/journal/folder-store.ts";
import { memoryStore } from "../../src/journal/memory-store.ts";
import type { RecordPlace } from "../../src/journal/record-place.ts";
import type { RunStore } from "../../src/journal/store.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
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
