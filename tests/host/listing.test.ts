import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { ListedFiles, Scopes } from "../../src/host/scopes/scopes.ts";

let root: string;
let scopes: Scopes | undefined;

beforeAll(async () => {
  // In memory where there is such a disk: to make the files takes longer than to list them.
  const disk = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  root = mkdtempSync(join(disk, "llm-do-many-"));
  for (let folder = 0; folder < 100; folder++) {
    mkdirSync(join(root, `f${folder}`));
    for (let file = 0; file < 1000; file++) writeFileSync(join(root, `f${folder}/${file}.md`), "");
  }
  scopes = await createNodeHost().openScopes([{ name: "s", root, mode: "ro" }]);
}, 60_000);

afterAll(async () => {
  await scopes?.close();
  rmSync(root, { recursive: true, force: true });
});

async function list(pattern: string, maxEntries: number): Promise<ListedFiles> {
  if (scopes === undefined) throw new Error("nothing to list");
  return scopes.list("s", { pattern, maxEntries });
}

test("lists 100,000 files in order without blocking the event loop", async () => {
  let longest = 0;
  let last = performance.now();
  const ticking = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const started = performance.now();
  const { paths, truncated } = await list("**/*", 1_000_000);
  clearInterval(ticking);
  expect([paths.length, truncated]).toEqual([100_000, false]);
  expect(paths).toEqual([...paths].sort());
  expect(performance.now() - started).toBeLessThan(8000);
  expect(longest).toBeLessThan(500);
});

test("maxEntries stops the walk early, and keeps the first files", async () => {
  const started = performance.now();
  const { paths, truncated } = await list("**/9*.md", 2);
  expect([paths, truncated]).toEqual([["s/f0/9.md", "s/f0/90.md"], true]);
  expect(performance.now() - started).toBeLessThan(500);
});

test("does not open folders that cannot match", async () => {
  const started = performance.now();
  expect((await list("f7/1.md", 9)).paths).toEqual(["s/f7/1.md"]);
  expect(performance.now() - started).toBeLessThan(200);
});
