import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linksOf } from "../../scripts/check-docs.ts";
import { version } from "../../src/version.ts";
import { noWall } from "../host/command-bench.ts";

/*
 * Tests the installed package without a network: it is packed and unpacked into a folder that has its declared
 * dependencies and nothing else. It tests the built files; `npm test` builds them first.
 */

const root = resolve(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};
const folder = mkdtempSync(join(tmpdir(), "llm-do-package-"));
const installed = join(folder, "node_modules", "llm-do");
let files: readonly string[] = [];

beforeAll(() => {
  if (!existsSync(join(root, "dist", "index.js"))) throw new Error("there is no dist/: run `npm run build` first");
  const packing = ["pack", "--ignore-scripts", "--offline", "--json", "--pack-destination", folder];
  const packed = JSON.parse(execFileSync("npm", packing, { cwd: root, encoding: "utf8", shell: process.platform === "win32" }));
  const [{ filename, files: listed }] = (Array.isArray(packed) ? packed : Object.values(packed)) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  files = listed.map(({ path }) => path);
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", installed, "--strip-components=1"]);
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name), "junction");
  }
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the version is written once", () => {
  expect(version).toBe(manifest.version);
});

test("the package holds what it needs, and no tests", () => {
  expect(files).toEqual(
    expect.arrayContaining([
      "README.md",
      "CHANGELOG.md",
      "LICENSE",
      "package.json",
      "bin/llm-do.js",
      "dist/index.js",
      "dist/index.d.ts",
      "dist/testing/index.d.ts",
      "dist/cli/main.js",
      "src/index.ts",
      "docs/first-steps.md",
      "docs/cli.md",
      "examples/pitchdeck_eval/main.worker",
      "examples/pitchdeck_eval/README.md",
    ]),
  );
  expect(
    files.filter((path) =>
      /\.test(-d)?\.[jt]s|^tests\/|^scripts\/|^docs\/adr|\.llm-do\/|\/evaluations\/|^node_modules\//.test(path),
    ),
  ).toEqual([]);
  expect(
    files.filter(
      (path) =>
        !/^(bin|dist|docs|examples|schema|skills|src|templates)\/|^(README|CHANGELOG)\.md$|^LICENSE$|^package\.json$/.test(path),
    ),
  ).toEqual([]);
});

test("its pages link to pages of the package", () => {
  for (const page of files.filter((path) => /\.md$/.test(path) && path !== "CHANGELOG.md")) {
    const links = linksOf(readFileSync(join(installed, page), "utf8")).filter((link) => !/^[a-z]+:|^#/.test(link));
    for (const link of links)
      expect(existsSync(join(installed, dirname(page), link.replace(/#.*/, ""))), `${link} in ${page}`).toBe(true);
  }
});

test.skipIf(!existsSync(join(root, ".git")))("git keeps the command executable", () => {
  const entry = execFileSync("git", ["ls-files", "--stage", "bin/llm-do.js"], { cwd: root, encoding: "utf8" });
  expect(entry).toMatch(/^100755 /);
});

test("the command says its version", () => {
  expect(llmDo(["--version"])).toMatchObject({ stdout: `${version}\n`, stderr: "", status: 0 });
});

test("on an older Node it says in one line what to do, and reads nothing newer", () => {
  const pretend = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})';
  const { stdout, stderr, status } = llmDo(["check", "."], ["--import", pretend]);
  expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
  expect(stderr).toMatch(/^llm-do needs Node 22\.18 or newer, and this is 20\.20\.2\. Run: [^\n]+\n$/);
});

test.each(["bun", "deno"])("on %s it says in one line what it runs on", (name) => {
  const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,${name}:"2.0.0"}})`;
  const { stdout, stderr, status } = llmDo(["check", "."], ["--import", pretend]);
  expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
  expect(stderr).toMatch(/^llm-do runs on Node 22\.18 or newer, and this is (?:Bun|Deno)\. Run: npx llm-do\n$/);
});

test("the library runs a program whose tools import llm-do and zod", () => {
  write("program/main.worker", "---\ntoolsets:\n  shout: {}\n---\nShout what you are told.\n");
  write(
    "program/tools.ts",
    `import { tool } from "llm-do";
import { z } from "zod";
export const shout = tool({
  input: z.object({ text: z.string() }),
  approval: "pre-approved",
  run: ({ text }: { text: string }) => text.toUpperCase(),
});
`,
  );
  write(
    "use.mjs",
    `import { run } from "llm-do";
import { defineScript, scriptedModel } from "llm-do/testing";
if (typeof defineScript !== "function" || typeof scriptedModel !== "function") throw new Error("llm-do/testing is broken");
const { output } = await run({
  target: "program", input: "hello", model: "scripted:script.mjs", trust: true, approval: { mode: "prompt" },
});
console.log(output);
`,
  );
  write(
    "script.mjs",
    `export default (request) => {
  const [answer] = request.toolResults();
  return answer ? String(answer.result.value) : { calls: [{ tool: "shout", args: { text: request.lastUserText() } }] };
};
`,
  );
  const { stdout, stderr, status } = node(["use.mjs"]);
  expect({ stdout, stderr, status }).toEqual({ stdout: "HELLO\n", stderr: "", status: 0 });
});

test("the command runs the same program", () => {
  expect(llmDo(["program", "hello", "--model", "scripted:script.mjs", "--trust"])).toMatchObject({
    stdout: "HELLO\n",
    stderr: "",
    status: 0,
  });
});

test.skipIf(noWall !== "")("a command of a program changes nothing of the package that runs it", () => {
  write(
    "main.worker",
    "---\nsandbox: { paths: { project: { root: ., mode: rw } } }\ntoolsets: { shell: { default: { approval_required: true } } }\n---\nGo on.\n",
  );
  const line = [
    "echo 'process.exit(9)' > node_modules/llm-do/bin/llm-do.js",
    "rm -rf node_modules/zod; mkdir node_modules/zod",
    "mv node_modules/llm-do other; mv node_modules others",
    "echo x > node_modules/mine",
  ].join("; ");
  const call = JSON.stringify({ tool: "shell", args: { command: line, writes: ["project"] } });
  write("plant.yaml", `- reply: { calls: [${call}] }\n- reply: done\n`);
  const { stdout, stderr } = llmDo([".", "go", "--model", "scripted:plant.yaml", "--trust", "--approve-all", "-v"]);
  expect(stdout, stderr).toBe("done\n");
  expect(readFileSync(join(folder, "node_modules", "mine"), "utf8")).toBe("x\n");
  expect(llmDo(["--version"])).toMatchObject({ stdout: `${version}\n`, status: 0 });
  expect(readlinkSync(join(folder, "node_modules", "zod"))).toBe(join(root, "node_modules", "zod"));
});

test("a database says which package it needs, and nobody else has that", () => {
  for (const name of ["pg", "pg-boss"]) expect(existsSync(join(folder, "node_modules", name)), name).toBe(false);
  for (const args of [
    ["runs", "list"],
    ["submit", ".", "go"],
    ["executor", "--programs", "."],
  ])
    expect(llmDo([...args, "--store", "postgres://127.0.0.1:1/runs"])).toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/a store in PostgreSQL needs a package that is not installed: npm install pg@8$/m),
      status: 2,
    });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function node(args: readonly string[]) {
  const { LLM_DO_MODEL: _, ...environment } = process.env;
  const options = { cwd: folder, encoding: "utf8", input: "", env: { ...environment, NODE_OPTIONS: "" } } as const;
  return spawnSync(process.execPath, [...args], options);
}

function llmDo(args: readonly string[], nodeFlags: readonly string[] = []) {
  return node([...nodeFlags, join(installed, "bin", "llm-do.js"), ...args]);
}
