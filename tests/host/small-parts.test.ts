import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createIds } from "../../src/host/create-id.ts";
import { sniffMediaType } from "../../src/host/files/media-type.ts";
import { createNodeSystem } from "../../src/host/files/node-system.ts";
import { variable } from "../../src/host/host.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { findStateDirectory } from "../../src/host/own-files/state-directory.ts";
import { type FolderSearch, LineSearchTimeout, openLineSearch } from "../../src/host/scopes/line-search.ts";
import { openScopes, type ScopeSystem } from "../../src/host/scopes/open-scopes.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";

describe("media types", () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex");
  test.each([
    ["a.md", Buffer.from("# x"), "text/markdown"],
    ["a.JSON", Buffer.from("{}"), "application/json"],
    ["a.csv", Buffer.from("a,b"), "text/csv"],
    ["a", Buffer.from("BMW builds cars"), "text/plain"],
    ["a.pdf", Buffer.from("text all the same"), "text/plain"],
    ["a.txt", Buffer.from("%PDF-1.7\n"), "application/pdf"],
    ["a.txt", png, "image/png"],
    ["a.txt", Buffer.from([0, 1, 2, 3]), "application/octet-stream"],
    ["a.txt", Buffer.from([0xff, 0xfe, 0x41]), "application/octet-stream"],
    ["cut.txt", Buffer.from("é").subarray(0, 1), "text/plain"],
    ["empty", new Uint8Array(), "text/plain"],
  ])("%s", async (name, bytes, expected) => {
    expect(await sniffMediaType(bytes, name)).toBe(expected);
  });
});

function one(text: string, limit = 9): FolderSearch {
  return { names: ["a"], from: [Buffer.from(text)], maxBytes: 1000, limit };
}

describe("line search", () => {
  test("finds lines with their number and column", async () => {
    const search = openLineSearch("b+", { milliseconds: 5000 });
    const lines = [
      { line: 2, column: 1, text: "abb" },
      { line: 4, column: 0, text: "b" },
    ];
    expect(await search.find(one("a\r\nabb\nc\nb"))).toEqual([{ name: "a", lines }]);
    expect((await search.find(one("b\nb\nb", 2)))[0]?.lines).toHaveLength(2);
    await search.close();
  });

  test("ends an expression that would never end", async () => {
    const search = openLineSearch("^(a+)+$", { milliseconds: 300 });
    await expect(search.find(one(`${"a".repeat(60)}!`))).rejects.toBeInstanceOf(LineSearchTimeout);
    await search.close();
  });
});

test("a search without an end rejects when its signal aborts", async () => {
  const controller = new AbortController();
  const search = openLineSearch("^(a+)+$", { milliseconds: 60_000, signal: controller.signal });
  const finding = search.find(one(`${"a".repeat(60)}!`));
  controller.abort(new Error("enough"));
  await expect(finding).rejects.toThrow("enough");
  await search.close();
});

describe("state directory", () => {
  const facts = { environment: {}, platform: "linux", homeDirectory: "/home/u", workingDirectory: "/work" };
  test.each([
    [{}, "/home/u/.local/state/llm-do"],
    [{ environment: { XDG_STATE_HOME: "/state" } }, "/state/llm-do"],
    [{ environment: { XDG_STATE_HOME: "relative" } }, "/home/u/.local/state/llm-do"],
    [{ environment: { XDG_STATE_HOME: "/state", LLM_DO_STATE_DIR: "mine" } }, "/work/mine"],
    [{ environment: { LLM_DO_STATE_DIR: "" } }, "/home/u/.local/state/llm-do"],
    [{ platform: "darwin" }, "/home/u/Library/Application Support/llm-do"],
    [{ platform: "win32", environment: { LOCALAPPDATA: "/local" } }, "/local/llm-do"],
  ])("%j", (more, expected) => {
    expect(findStateDirectory({ ...facts, ...more })).toBe(expected);
  });
});

test("an empty variable counts as unset", () => {
  const host = memoryHost({ environment: { A: "", B: "b" } });
  expect([variable(host, "A"), variable(host, "B"), variable(host, "C")]).toEqual([undefined, "b", undefined]);
});

test("ids begin with the second in UTC, and count on within a millisecond", () => {
  const second = Date.UTC(2026, 10, 21, 22, 45, 1);
  const next = createIds(() => 0);
  expect([next(second), next(second)]).toEqual(["20261121-224501-000000", "20261121-224501-000001"]);
  const last = createIds(() => 0.9999999);
  expect([last(second + 999), last(second + 999)]).toEqual(["20261121-224501-z7zzzz", "20261121-224501-z70000"]);
  let made = 0;
  const later = createIds(() => (made++ % 2 === 0 ? 0.99 : 0));
  const ids = Array.from({ length: 1000 }, (_, index) => later(index));
  expect(ids.toSorted()).toEqual(ids);
});

test("no two ids of a process are equal, whatever host makes them", () => {
  const ids = Array.from({ length: 3000 }, () => createNodeHost().createId());
  expect(new Set(ids).size).toBe(3000);
});

describe("left-over temporaries", () => {
  test("of dead processes and old ones are removed, those of living ones stay", async () => {
    const root = mkdtempSync(join(tmpdir(), "llm-do-left-"));
    const scopes = await createNodeHost().openScopes([{ name: "s", root, mode: "rw" }]);
    await scopes.write("s/probe", new Uint8Array(), { expect: undefined });
    await scopes.close();
    const old = new Date(Date.now() - 3_600_000);
    const put = (name: string, time?: Date) => {
      writeFileSync(join(root, name), "x");
      if (time !== undefined) utimesSync(join(root, name), time, time);
    };
    put(".llm-do-elsewhere-1-abc.tmp");
    put(".llm-do-elsewhere-1-old.tmp", old);
    put(".llm-do-elsewhere-x-old.tmp", old);
    put("llm-do-elsewhere-1-old.tmp", old);
    mkdirSync(join(root, ".llm-do-elsewhere-1-folder.tmp"));
    const again = await createNodeHost().openScopes([{ name: "s", root, mode: "rw" }]);
    await again.write("s/probe2", new Uint8Array(), { expect: undefined });
    expect((await again.list("s", { pattern: "{.*,*}", maxEntries: 9 })).paths).not.toContain("s/.llm-do-elsewhere-1-abc.tmp");
    await again.close();
    expect(readdirSync(root).sort()).toEqual([
      ".llm-do-elsewhere-1-abc.tmp",
      ".llm-do-elsewhere-1-folder.tmp",
      ".llm-do-elsewhere-x-old.tmp",
      "llm-do-elsewhere-1-old.tmp",
      "probe",
      "probe2",
    ]);
    rmSync(root, { recursive: true });
  });

  test("stay where scopes are opened for a dry run", async () => {
    const root = mkdtempSync(join(tmpdir(), "llm-do-left-"));
    const left = join(root, ".llm-do-elsewhere-1-old.tmp");
    writeFileSync(left, "x");
    utimesSync(left, new Date(0), new Date(0));
    const open = async (missingRoots: "make" | "pretend") => {
      const scopes = await createNodeHost().openScopes([{ name: "s", root, mode: "rw" }], { missingRoots });
      await scopes.close();
      return readdirSync(root).length;
    };
    expect(await open("pretend")).toBe(1);
    expect(await open("make")).toBe(0);
    rmSync(root, { recursive: true });
  });
});

test("missing roots of a dry run are empty, apart, and cannot be written", async () => {
  const root = mkdtempSync(join(tmpdir(), "llm-do-missing-"));
  const declare = (name: string) => ({ name, root: join(root, name), mode: "rw" as const });
  const scopes = await createNodeHost().openScopes([declare("a"), declare("b")], { missingRoots: "pretend" });
  expect(await scopes.list("a", { pattern: "**", maxEntries: 10 })).toMatchObject({ paths: [], truncated: false });
  expect(await scopes.canWrite("b/file")).toBe(true);
  await expect(scopes.read("a/file")).rejects.toMatchObject({ type: "not_found" });
  await expect(scopes.write("b/file", new Uint8Array(), { expect: undefined })).rejects.toMatchObject({ type: "io_error" });
  await scopes.close();
  expect(readdirSync(root)).toEqual([]);
  rmSync(root, { recursive: true });
});

describe("scopes of one owner", () => {
  function countOpen(system: ScopeSystem) {
    const counts = { made: 0, open: 0 };
    const counted: ScopeSystem = {
      ...system,
      openRoot: async (path) => {
        const directory = await system.openRoot(path);
        const close = directory.close.bind(directory);
        counts.made++;
        counts.open++;
        return Object.assign(directory, { close: () => close().finally(() => counts.open--) });
      },
    };
    return { counts, system: counted };
  }

  test("hold a folder open once, until the last of them is closed, and open the one that took its place", async () => {
    const above = mkdtempSync(join(tmpdir(), "llm-do-owner-"));
    const root = join(above, "in");
    const put = (text: string) => {
      mkdirSync(root);
      writeFileSync(join(root, "file"), text);
    };
    try {
      put("old");
      const { counts, system } = countOpen(createNodeSystem());
      const owner = {};
      const open = (of: object) => openScopes(system, [{ name: "s", root, mode: "ro" }], { owner: of });
      const readFrom = async (scopes: Awaited<ReturnType<typeof open>>) =>
        Buffer.from((await scopes.read("s/file")).bytes).toString();
      const [first, second] = [await open(owner), await open(owner)];
      expect(counts).toEqual({ made: 1, open: 1 });
      await first.close();
      await first.close();
      expect(await readFrom(second)).toBe("old");
      const other = await open({});
      expect(counts).toEqual({ made: 2, open: 2 });
      await other.close();

      renameSync(root, join(above, "away"));
      put("new");
      const third = await open(owner);
      expect(counts).toEqual({ made: 3, open: 2 });
      expect(await readFrom(third)).toBe("new");
      await expect(readFrom(second)).rejects.toThrow();
      await second.close();
      const fourth = await open(owner);
      expect(counts).toEqual({ made: 3, open: 1 });
      await Promise.all([third.close(), fourth.close()]);
      expect(counts.open).toBe(0);
    } finally {
      rmSync(above, { recursive: true });
    }
  });
});

describe("memory host", () => {
  test("moves time by advance, and wakes sleepers in order", async () => {
    const { clock } = memoryHost({ now: 1000 });
    const woken: string[] = [];
    const sleep = (name: string, time: number) => clock.sleep(time).then(() => woken.push(`${name}@${clock.now()}`));
    void sleep("late", 50);
    void sleep("early", 10).then(() => sleep("again", 20));
    await clock.advance(40);
    expect([woken, clock.now(), clock.monotonic()]).toEqual([["early@1010", "again@1030"], 1040, 40]);
  });

  test("fails as planned: a full disk leaves the old file and nothing else", async () => {
    const host = memoryHost({ files: { "/d/file": "old" } });
    const scopes = await host.openScopes([{ name: "d", root: "/d", mode: "rw" }]);
    const { identity } = await scopes.facts("d/file");
    for (const failing of ["createFile", "write", "sync", "rename"]) {
      host.setFaults((operation) => (operation === failing ? "ENOSPC" : undefined));
      await expect(scopes.write("d/file", new Uint8Array(1), { expect: identity })).rejects.toMatchObject({
        type: "io_error",
        message: '"d/file": the disk is full.',
      });
    }
    host.setFaults(() => undefined);
    expect(host.snapshot("/d")).toEqual({ "/d/file": "old" });
  });

  test("is the same in every run", () => {
    const ids = () => {
      const host = memoryHost();
      return [host.createId(), host.createId(), host.random()];
    };
    expect(ids()).toEqual(ids());
  });
});

describe("walks of nested folders", () => {
  async function openedFolders(levels: number): Promise<number> {
    const deep = Array.from({ length: levels }, (_, level) => `d${level}`).join("/");
    const host = memoryHost({ files: { [`/s/${deep}/file`]: "x" } });
    let opened = 0;
    host.setFaults((operation) => {
      if (operation === "openDirectory") opened++;
      return undefined;
    });
    const scopes = await host.openScopes([{ name: "s", root: "/s", mode: "rw" }]);
    await scopes.list("s", { pattern: "**", maxEntries: 10 });
    await scopes.close();
    return opened;
  }

  test("look for left-over temporaries in the latest runs alone where they end at once", async () => {
    const openedWith = async (runs: number) => {
      const names = Array.from({ length: runs }, (_, run) => `/s/.llm-do/runs/20260101-${1000 + run}/journal.jsonl`);
      const host = memoryHost({ files: Object.fromEntries(names.map((name) => [name, "x"])) });
      let opened = 0;
      host.setFaults((operation) => {
        if (operation === "openDirectory") opened++;
        return undefined;
      });
      await (await host.openScopes([{ name: "s", root: "/s", mode: "rw" }])).close();
      return opened;
    };
    expect(await openedWith(64)).toBeGreaterThan(64);
    expect(await openedWith(300)).toBe(await openedWith(64));
  });

  test("open each folder once in a listing, and few of them again to look for left-over temporaries", async () => {
    const [one, two] = [await openedFolders(80), await openedFolders(160)];
    expect(two - one).toBe(80);
    expect(await openedFolders(2000)).toBeLessThan(400);
  });
});
