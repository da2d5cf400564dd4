import { expect, test } from "vitest";
import type { HostFiles } from "../host/host.ts";
import type { OwnFolder } from "../host/own-files/own-folder.ts";
import type { Fact } from "../protocol/fact.ts";
import { memoryHost } from "../testing/memory-host.ts";
import { Redactor } from "../util/secrets/redactor.ts";
import { RunSecrets } from "./run-secrets.ts";
import { userStore } from "./stores/folder-store.ts";

function stepOf(name: string): Fact {
  return { type: "result", callPath: "main", key: `step ${name}`, kind: "step", outcome: { type: "value", value: name } };
}

/** How often a journal with two facts was brought to the disk. */
async function countSyncs({
  durable,
  isContinued = false,
}: {
  readonly durable: boolean;
  readonly isContinued?: boolean;
}): Promise<number> {
  const memory = memoryHost();
  let syncs = 0;
  const openOwn: HostFiles["openOwn"] = async (...given) => counting(await memory.files.openOwn(...given));
  const counting = (folder: OwnFolder): OwnFolder =>
    new Proxy(folder, {
      get: (_, name) => {
        if (name === "open" || name === "create") return async (...given: [string]) => counting(await folder[name](...given));
        if (name === "openAppend")
          return async (log: string) => ({ ...(await folder.openAppend(log)), sync: async () => void syncs++ });
        const member: unknown = Reflect.get(folder, name);
        return typeof member === "function" ? member.bind(folder) : member;
      },
    });
  const host = { ...memory, files: { ...memory.files, openOwn } };
  const secrets = new RunSecrets(() => host.createKey());
  const redactor = new Redactor([], secrets);
  const run = { id: "20260101-000000-abcdef", program: { root: "/work" }, redactor, secrets };
  const store = userStore(host);
  let { journal } = await store.create(run);
  if (isContinued) {
    journal.append({ type: "grant", callPath: "main", key: "1", tool: "t" });
    await journal.close();
    ({ journal } = await store.open(run.id, { known: [], takeOver: false, createRedactor: () => redactor, begin: () => [] }));
    syncs = 0;
  }
  journal.append(stepOf("one"));
  await journal.written({ durable });
  journal.append(stepOf("two"));
  expect(await journal.close()).toBeUndefined();
  return syncs;
}

test("the disk is waited for before a side effect, and at the end of a run that had one or goes on", async () => {
  expect(await countSyncs({ durable: false })).toBe(0);
  expect(await countSyncs({ durable: true })).toBe(2);
  expect(await countSyncs({ durable: false, isContinued: true })).toBe(1);
});
