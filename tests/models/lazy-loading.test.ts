import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const repository = new URL("../..", import.meta.url).pathname;

/** The packages that a module and what it imports load. */
async function loadedPackages(path: string): Promise<string[]> {
  const script = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ load(url, context, next) { seen.add(url); return next(url, context); } });
    await import(${JSON.stringify(new URL(path, import.meta.url).href)});
    const names = [...seen].map((url) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]).filter(Boolean);
    console.log(JSON.stringify([...new Set(names)]));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: repository });
  return JSON.parse(stdout) as string[];
}

test("the table of providers loads no library", async () => {
  expect(await loadedPackages("../../src/models/providers/providers.ts")).toEqual([]);
  expect(await loadedPackages("../../src/models/create-model-resolver.ts")).toEqual([]);
});

test("the recorder sees what is loaded", async () => {
  expect(await loadedPackages("../../node_modules/yaml/dist/index.js")).toContain("yaml");
});
