import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import * as zod from "zod";
import { copyExample, runCli, scripted, writeProgram } from "./run-cli.ts";

const recorder = pathToFileURL(join(import.meta.dirname, "fixtures/record-modules.mjs")).href;

/** A server that gives each request the same answer. */
async function startServer(answer: object) {
  const served = { requests: 0, url: "", [Symbol.asyncDispose]: async () => void server.close() };
  const server = createServer((request, response) => {
    served.requests++;
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end(JSON.stringify(answer)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  served.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return served;
}

let records = 0;

/** A command's packages, in their own files or bundled, and the number of their own files and of ours. */
async function loadedBy(args: readonly string[], cwd: string) {
  const record = join(dirname(cwd), `modules-${records++}`);
  const { exitCode, stderr } = await runCli(args, { cwd, env: { NODE_OPTIONS: `--import=${recorder}`, RECORD_MODULES: record } });
  expect(exitCode, stderr).toBe(0);
  const urls = (await readFile(record, "utf8")).trim().split("\n");
  const own = urls.filter((url) => /\/dist\/(?!.*node_modules)/.test(url));
  // A file that only exports from others has none.
  const maps = await Promise.all(own.map((url) => readFile(new URL(`${url}.map`), "utf8").catch(() => '{ "sources": [] }')));
  const sources = maps.flatMap((map) => (JSON.parse(map) as { readonly sources: readonly string[] }).sources);
  const packages = (paths: readonly string[]) =>
    paths.flatMap((path) => /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return {
    packages: [...new Set(packages([...urls, ...sources]))].sort(),
    packageFiles: packages(urls).length,
    own: own.length,
    requests: urls.filter((line) => line.startsWith("request")),
  };
}

describe("start-up pays for nothing that is not used", () => {
  it("loads the parser of the command line alone for --help, --version and a mistake in usage", async () => {
    const cwd = await copyExample();
    const { packages, own } = await loadedBy(["--help"], cwd);
    expect(packages).toEqual(["commander"]);
    expect(own).toBeLessThan(8);
    expect(await loadedBy(["--version"], cwd)).toMatchObject({ packages, own });
    expect(await loadedBy(["run", "--help"], cwd)).toMatchObject({ packages, own });
  });

  it("loads no provider, no validator, no schema builder and no template engine to check a program", async () => {
    const { packages } = await loadedBy(["check"], await copyExample());
    const allowed = ["commander", "eventsource-parser", "yaml"];
    expect(packages.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it("loads no validator to check a program without schemas, and only reads its code", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: anthropic:claude-sonnet-4-5\ntoolsets: { greet: {} }\n---\nGo.\n",
      "tools.ts":
        'import { tool } from "llm-do";\nimport { z } from "zod";\nexport const greet = tool({ input: z.object({}), run: () => "hello" });\n',
    });
    const { packages } = await loadedBy(["check"], cwd);
    expect(packages.filter((name) => name.startsWith("@ai-sdk") || ["zod", "ajv", "liquidjs"].includes(name))).toEqual([]);
  });

  it("loads no provider library for a scripted run, and no code of the terminal's preview without one", async () => {
    const { packages } = await loadedBy([".", "--model", scripted, "--approve-all", "-q"], await copyExample());
    expect(
      packages.filter((name) => name.startsWith("@ai-sdk") || ["zod", "ajv", "liquidjs", "diff", "ink", "react"].includes(name)),
    ).toEqual([]);
  });

  it("sends a request from few files, with the readers of settings and the library of the provider alone", async () => {
    const answer = { choices: [{ message: { role: "assistant", content: "done" }, finish_reason: "stop" }] };
    await using server = await startServer(answer);
    const cwd = await writeProgram({
      "llm-do.yaml": `providers:\n  local: { type: openai-compatible, base_url: "${server.url}" }\n`,
      "main.worker": "---\nmodel: local:m\ninput: { input: string }\n---\nGo.\n",
    });
    const { packages, own, requests } = await loadedBy([".", "hello", "--trust", "--reject-all", "-q"], cwd);
    expect(server.requests).toBe(1);
    // Node's own client is loaded while the server works: the answer needs parts of it.
    expect(requests).toEqual(["request"]);
    const library = ["@ai-sdk/openai-compatible", "@ai-sdk/provider", "@ai-sdk/provider-utils", "@workflow/serde", "zod"];
    expect(packages).toEqual([...library, "commander", "eventsource-parser", "yaml"].sort());
    expect(own).toBeLessThan(12);
  });

  it("loads code of a program with our bundled zod, and no file of a package for it", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.mjs\ninput: { input: string }\ntoolsets: { greet: {} }\n---\nGo.\n",
      "model.mjs": 'export default () => "done";\n',
      "tools.ts":
        'import { tool } from "llm-do";\nimport { z } from "zod";\nimport * as v4 from "zod/v4";\nexport const greet = tool({ input: z.object({ to: v4.string() }), run: () => "hello" });\n',
    });
    const { packages, packageFiles, own } = await loadedBy([".", "hello", "--trust", "--reject-all", "-q"], cwd);
    // The lexer is a file of its package.
    expect(packageFiles).toBe(1);
    expect(packages).toEqual(["commander", "es-module-lexer", "eventsource-parser", "yaml", "zod"]);
    expect(own).toBeLessThan(18);
  });

  it("has all of zod in our file, with its languages in another one", async () => {
    const ours = await import(pathToFileURL(join(import.meta.dirname, "../../dist/zod.js")).href);
    expect(Object.keys(ours).sort()).toEqual(Object.keys(zod).sort());
    expect(Object.keys(ours.locales).sort()).toEqual(Object.keys(zod.locales).sort());
    expect(ours.core.locales.de().localeError({ code: "invalid_type", expected: "string", input: 1 })).toContain("erwartet");
    expect(ours.string()).toBeInstanceOf(zod.ZodString);
  });

  it.each(["cli/process/watchdog-thread", "host/scopes/line-search-thread", "host/program-thread"])(
    "gives the thread %s a file of its own",
    async (thread) => {
      const text = await readFile(join(import.meta.dirname, `../../dist/${thread}.js`), "utf8");
      expect(text).not.toMatch(/^import .*"\.\.?\//m);
      expect(text.length).toBeLessThan(10_000);
    },
  );

  it("keeps the compiled code in the state folder, and goes without it where that cannot be written", async () => {
    const cwd = await copyExample();
    const env = { NODE_COMPILE_CACHE: "", LLM_DO_STATE_DIR: join(dirname(cwd), "kept") };
    await mkdir(env.LLM_DO_STATE_DIR);
    const kept = await runCli(["check"], { cwd, env });
    expect(kept.exitCode).toBe(0);
    expect(await readdir(join(env.LLM_DO_STATE_DIR, "compile-cache"))).toHaveLength(1);
    const file = join(dirname(cwd), "file");
    await writeFile(file, "");
    expect(await runCli(["check"], { cwd, env: { ...env, LLM_DO_STATE_DIR: file } })).toEqual(kept);
  });
});
