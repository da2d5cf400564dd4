import { describe, expect, test } from "vitest";
import type { Scopes } from "../../src/host/scopes/scopes.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";
import { sha256 } from "../../src/util/sha256.ts";

// In memory the process 1 of the machine "memory" is alive, and no other.
const alive = ".llm-do-memory-1-abc.tmp";
const dead = ".llm-do-memory-2-abc.tmp";
const lock = (level: number) => `/s/.llm-do-${sha256("file").slice(0, 16)}-${level}.lock`;
const bytes = new TextEncoder().encode("new");

async function open(host: MemoryHost): Promise<Scopes> {
  const scopes = await host.openScopes([{ name: "s", root: "/s", mode: "rw" }]);
  await scopes.write("s/other", bytes, { expect: undefined });
  return scopes;
}

/** Starts a write behind these locks; `settled` says whether it ended by itself within many turns of the event loop. */
async function writeBehind(locks: Readonly<Record<string, Parameters<MemoryHost["put"]>[1]>>) {
  const host = memoryHost();
  const scopes = await open(host);
  for (const [path, content] of Object.entries(locks)) host.put(path, content);
  let settled = false;
  const written = scopes.write("s/file", bytes, { expect: undefined }).finally(() => {
    settled = true;
  });
  for (let turn = 0; turn < 300 && !settled; turn++) await new Promise((resolve) => setImmediate(resolve));
  return { host, written, settled };
}

const names = (host: MemoryHost) => Object.keys(host.snapshot("/s"));

describe("the lock of a file that is written", () => {
  test.each([
    ["nobody", {}],
    ["a link of a dead process", { [lock(0)]: { link: dead } }],
    ["a file of a dead process", { [lock(0)]: dead }],
    ["several dead processes", { [lock(0)]: { link: dead }, [lock(1)]: dead, [lock(2)]: { link: dead } }],
  ])("held by %s: the write goes on, and removes it", async (_owner, locks) => {
    const { host, written, settled } = await writeBehind(locks);
    expect(settled).toBe(true);
    await written;
    expect(names(host)).toEqual(["/s/file", "/s/other"]);
    expect(await host.files.kind(lock(0))).toBeUndefined();
  });

  test.each([
    ["a living process", { [lock(0)]: { link: alive } }, lock(0)],
    ["a living process, as a file", { [lock(0)]: alive }, lock(0)],
    ["a living process behind a dead one", { [lock(0)]: { link: dead }, [lock(1)]: { link: alive } }, lock(1)],
    ["somebody who has not said who it is", { [lock(0)]: "" }, lock(0)],
  ])("held by %s: the write waits until it is given back", async (_owner, locks, held) => {
    const { host, written, settled } = await writeBehind(locks);
    expect(settled).toBe(false);
    expect(await host.files.kind("/s/file")).toBeUndefined();
    await host.files.remove(held);
    await written;
    expect(names(host)).toEqual(["/s/file", "/s/other"]);
  });

  test.each([
    ["whole", [0, 1]],
    ["without the lower levels, which a process had removed when it was killed", [2, 3]],
  ])("is removed when the scope is opened, where its owner has died: %s", async (_what, levels) => {
    const left = Object.fromEntries(levels.map((level) => [lock(level), dead]));
    const host = memoryHost({
      files: { ...left, "/s/deep/.llm-do-0123456789abcdef-0.lock": dead, "/s/file": "x" },
    });
    const scopes = await host.openScopes([{ name: "s", root: "/s", mode: "rw" }]);
    expect((await scopes.list("s", { pattern: "{.*,**/.*,*}", maxEntries: 9 })).paths).toEqual(["s/file"]);
    await scopes.close();
    expect(names(host)).toEqual(["/s/file"]);
  });
});
