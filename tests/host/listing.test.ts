import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { Scopes } from "../../src/host/scopes.ts";

let root: string;
let scopes: Scopes;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "llm-do-many-"));
  for (let folder = 0; folder < 100; folder++) {
    mkdirSync(join(root, `f${folder}`));
    for (let file = 0; file < 1000; file++) writeFileSync(join(root, `f${folder}/${file}.md`), "");
  }
  scopes = await createNodeHost().openScopes([{ name: "s", root, mode: "ro" }]);
}, 60_000);

afterAll(async () => {
  await scopes.close();
  rmSync(root, { recursive: true, force: true });
});

test("100,000 files: all of them, sorted, while others get their turn", async () => {
  let longest = 0;
  let last = performance.now();
  const ticking = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const started = performance.now();
  const { paths, truncated } = await scopes.list("s", { pattern: "**/*", maxEntries: 1_000_000 });
  clearInterval(ticking);
  expect([paths.length, truncated]).toEqual([100_000, false]);
  expect(paths).toEqual([...paths].sort());
  expect(performance.now() - started).toBeLessThan(8000);
  expect(longest).toBeLessThan(500);
});

test("a cap stops the walk early, and keeps the first", async () => {
  const started = performance.now();
  const { paths, truncated } = await scopes.list("s", { pattern: "**/9*.md", maxEntries: 2 });
  expect([paths, truncated]).toEqual([["s/f0/9.md", "s/f0/90.md"], true]);
  expect(performance.now() - started).toBeLessThan(500);
});

test("folders that cannot match are not entered", async () => {
  const started = performance.now();
  expect((await scopes.list("s", { pattern: "f7/1.md", maxEntries: 9 })).paths).toEqual(["s/f7/1.md"]);
  expect(performance.now() - started).toBeLessThan(200);
});
