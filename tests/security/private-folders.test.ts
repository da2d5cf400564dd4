import { symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { noWall } from "../host/command-bench.ts";
import { approveAll, attack, outcome, World, worker } from "./world.ts";

const key = "sk-kept-0123456789abcdefghij";
const keys = JSON.stringify({ v: 1, entries: { openrouter: { key, setAt: "2026-01-01T00:00:00Z" } } });

function everyTool(path: string) {
  return [
    { tool: "read_file", args: { path } },
    { tool: "write_file", args: { path, content: "evil" } },
    { tool: "append_file", args: { path, content: "evil" } },
    { tool: "edit_file", args: { path, old_text: "sk", new_text: "evil" } },
  ];
}

function create(frontmatter: string): World {
  const world = new World({ "main.worker": worker(frontmatter) });
  world.put("state/credentials/keys.json", keys);
  world.put("state/private/run/secrets.jsonl", key);
  world.put("state/compile-cache/v24/compiled", key);
  world.put("state/notes.txt", "notes");
  return world;
}

test("file tools reach neither credentials, secrets of runs nor the configuration, in a scope around them that asks for nothing", async () => {
  const world = create(
    "sandbox: { paths: { all: { root: .., mode: rw, write_approval: false } } }\ntoolsets: { filesystem: {} }",
  );
  const environment = { LLM_DO_CONFIG_DIR: world.at("config") };
  const paths = [
    "all/state/credentials/keys.json",
    "all/state/private/run/secrets.jsonl",
    "all/state/credentials/new.json",
    "all/state/compile-cache/v24/compiled",
    "all/state/notes.txt",
    "all/config/config.yaml",
  ];
  const look = [
    { tool: "list_files", args: { path: "all/state" } },
    { tool: "search_files", args: { path: "all", regex: "sk-kept" } },
    { tool: "list_files", args: { path: "all/state/credentials" } },
  ];
  const { error, results } = await attack(world, { model: [...paths.map(everyTool), look], approval: approveAll, environment });
  expect(error).toBeUndefined();
  expect(results.slice(0, -3).map(outcome)).toEqual(paths.flatMap(() => Array(4).fill("path_protected")));
  expect(results.slice(-3).map(outcome)).toEqual(["path_protected", "ok", "path_protected"]);
  expect(JSON.stringify(results)).not.toMatch(/sk-kept-0123|keys\.json"?,|secrets\.jsonl"?,/);
  expect(world.read("state/credentials/keys.json")).toBe(keys);
});

test.each(["../state", "../state/credentials", "../state/private/run"])(
  "a scope of %s is refused when the run starts",
  async (root) => {
    const world = create(`sandbox: { paths: { own: { root: ${root} } } }\ntoolsets: { filesystem: {} }`);
    const { error, results } = await attack(world, { model: [everyTool("own/keys.json")] });
    expect(String(error)).toContain("holds the keys and secrets of llm-do");
    expect(results).toEqual([]);
  },
);

test("refuses them as a fragment of a program whose folder holds them", async () => {
  const world = create("fragments: [keep/credentials/keys.json]");
  world.put("program/keep/credentials/keys.json", keys);
  const environment = { LLM_DO_STATE_DIR: world.at("program/keep") };
  const { error, scripted } = await attack(world, { model: [], environment });
  expect(String(error)).toContain("it holds keys and secrets of llm-do");
  expect(scripted.requests).toEqual([]);
});

test.skipIf(noWall !== "")("hides them from commands, in a scope around the state folder", { timeout: 60_000 }, async () => {
  const world = create(`
sandbox: { paths: { all: { root: .., mode: rw, write_approval: false } } }
toolsets: { shell: { rules: [{ pattern: "*", approval_required: false }], default: { approval_required: false } } }
`);
  const command = "cat state/notes.txt state/credentials/keys.json state/private/run/*; ls -A state; cat outside/file; true";
  const { results } = await attack(world, { model: [[{ tool: "shell", args: { command, cwd: "all" } }]] });
  expect(JSON.stringify(results)).toContain("canary");
  expect(JSON.stringify(results)).not.toContain("sk-kept-0123");
  expect(world.read("state/credentials/keys.json")).toBe(keys);
});

test("follows no link to them", async () => {
  const world = create("toolsets: { filesystem: {} }");
  symlinkSync(dirname(world.at("state/credentials/keys.json")), world.at("program/shortcut"));
  const { results } = await attack(world, { model: [everyTool("shortcut/keys.json")] });
  expect(new Set(results.map(outcome))).toEqual(new Set(["path_outside_scope"]));
});
