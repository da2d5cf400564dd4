import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { FoundLines, Scopes, SearchOptions } from "../../src/host/scopes/scopes.ts";

const folders = ["a", "b", "c", "d"];
const matching: string[] = [];
let root: string;
let scopes: Scopes;

beforeAll(async () => {
  root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "llm-do-search-"));
  for (const folder of folders) {
    mkdirSync(join(root, `many/${folder}`), { recursive: true });
    for (let file = 1000; file < 2000; file++) {
      const path = `many/${folder}/${file}`;
      if (file % 100 === 50) matching.push(`s/${path}`);
      const bytes = file % 100 === 7 ? [0] : Buffer.from(file % 100 === 50 ? "needle\n\nneedle" : "hay");
      writeFileSync(join(root, path), Buffer.from(bytes));
    }
  }
  mkdirSync(join(root, "endless"));
  writeFileSync(join(root, "endless/a"), "needle\nneedle");
  for (const name of ["b", "c/d"]) {
    mkdirSync(join(root, `endless/${name}`, ".."), { recursive: true });
    writeFileSync(join(root, `endless/${name}`), `${"a".repeat(60)}!`);
  }
  scopes = await createNodeHost().openScopes([{ name: "s", root, mode: "ro" }]);
});

afterAll(async () => {
  await scopes.close();
  rmSync(root, { recursive: true, force: true });
});

function search(path: string, options: Partial<SearchOptions> = {}): Promise<FoundLines> {
  const limits = { maxMatches: 1000, maxBytesOfFile: 1000, milliseconds: 60_000 };
  return scopes.search(path, { pattern: "**/*", regex: "needle", ...limits, ...options });
}

function describeFound({ matches, skipped, truncated }: FoundLines) {
  return { matches: matches.map(({ virtualPath, line }) => `${virtualPath}:${line}`), skipped, truncated };
}

const lines = () => matching.flatMap((path) => [`${path}:1`, `${path}:3`]);

test("files that several threads read are found in the order of their paths", async () => {
  for (const regex of ["needle", "need(?=le)"]) {
    expect(describeFound(await search("s/many", { regex }))).toEqual({ matches: lines(), skipped: 40, truncated: false });
  }
});

test("a cut tells what was skipped before it, whatever was read beyond", async () => {
  // In the thirteenth file that matches, behind thirteen that are not text.
  expect(describeFound(await search("s/many", { maxMatches: 25 }))).toEqual({
    matches: lines().slice(0, 25),
    skipped: 13,
    truncated: true,
  });
});

test("a search that has enough does not wait for an expression without an end", async () => {
  const found = await search("s/endless", { regex: "^(?:needle|(a+)+)$", maxMatches: 1 });
  expect(describeFound(found)).toEqual({ matches: ["s/endless/a:1"], skipped: 0, truncated: true });
});

test.runIf(process.platform === "linux")("no folder stays open, whether a search ends, is cut or is stopped", async () => {
  const stopping = new AbortController();
  const stopped = search("s/endless", { regex: "^(a+)+$", signal: stopping.signal });
  setImmediate(() => stopping.abort(new Error("enough")));
  await expect(stopped).rejects.toThrow("enough");
  await search("s/many", { maxMatches: 1 });
  await search("s/many");
  const open = readdirSync("/proc/self/fd").map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return "";
    }
  });
  expect(open.filter((path) => path.startsWith(root))).toEqual([root]);
});
