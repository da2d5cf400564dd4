import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createTrustStore } from "../../src/host/own-files/trust-store.ts";
import { noWall } from "../host/command-bench.ts";
import { calling, createMcpWorld, own } from "../mcp/play-mcp.ts";
import { attack, outcome, World, worker } from "./world.ts";

/** What another run believes because of its place, and a name of a later version. */
const believed: Readonly<Record<string, string>> = {
  "trust.json": "",
  "stores/0123.json": '{"v":1}',
  "workers/0123.json": '{"v":1,"record":{}}',
  "mcp/0123.json": '{"v":2,"tools":[],"instructions":""}',
  "maps/m/log.jsonl": "{}",
  "credentials/keys.json": '{"v":1,"entries":{}}',
  "runs/other/20260101-000000-aaaaaa/journal.jsonl": "{}",
  "imported/other/x.jsonl": "{}",
  "input-history.jsonl": '"old"',
  "of-a-later-version/x": "x",
};
const names = Object.keys(believed);
const scope = "sandbox: { paths: { home: { root: ../home, mode: rw, write_approval: false } } }";
const shell = "shell: { rules: [{ pattern: '*', approval_required: false }], default: { approval_required: false } }";
const state = "home/.local/state/llm-do";

/** A home that is a scope, with the state folder in its usual place. */
function createHome(frontmatter: string, isMade = true): World {
  const world = new World({ "main.worker": worker(frontmatter) });
  world.put("home/notes.txt", "notes");
  if (isMade) for (const [name, text] of Object.entries(believed)) world.put(`${state}/${name}`, text === "" ? noTrust : text);
  return world;
}

const noTrust = '{"v":2,"folders":{}}';
const trusting = (folder: string) =>
  JSON.stringify({ v: 2, folders: { [folder]: { trustedAt: "2026-01-01T00:00:00Z", reach: { v: 1 } } } });

/** The state folder's files that the attack was about. */
function kept(world: World) {
  return Object.fromEntries(
    names.map((name) => [name, existsSync(world.at(`${state}/${name}`)) ? world.read(`${state}/${name}`) : ""]),
  );
}

function isTrusted(world: World) {
  const host = createNodeHost({ environment: { LLM_DO_STATE_DIR: world.at(state) } });
  return createTrustStore(host, () => undefined).get(world.at("program"));
}

const usualPlace = { LLM_DO_STATE_DIR: "" };

test.each([true, false])("no file tool reads or writes anything in the state folder (there already: %s)", async (isMade) => {
  const world = createHome(`${scope}\ntoolsets: { filesystem: {} }`, isMade);
  const before = kept(world);
  const calls = names.map((name) => {
    const path = `home/.local/state/llm-do/${name}`;
    return [
      { tool: "write_file", args: { path, content: trusting(world.at("program")) } },
      { tool: "append_file", args: { path, content: " " } },
      { tool: "edit_file", args: { path, old_text: "{", new_text: "{ " } },
      { tool: "read_file", args: { path } },
    ];
  });
  const { error, results } = await attack(world, { model: calls, environment: usualPlace, request: { journal: false } });
  expect(error).toBeUndefined();
  expect(kept(world)).toEqual(before);
  expect(await isTrusted(world)).toBeUndefined();
  expect(results.map(outcome)).toEqual(names.flatMap(() => Array(4).fill("path_protected")));
});

test("lists and searches nothing in it", async () => {
  const world = createHome(`${scope}\ntoolsets: { filesystem: {} }`);
  const look = [
    { tool: "list_files", args: { path: "home" } },
    { tool: "search_files", args: { path: "home", regex: "old|notes" } },
    { tool: "list_files", args: { path: "home/.local/state/llm-do" } },
  ];
  const { results } = await attack(world, { model: [look], environment: usualPlace });
  expect(results.map(outcome)).toEqual(["ok", "ok", "path_protected"]);
  expect(JSON.stringify(results)).not.toMatch(/trust\.json|input-history|later-version/);
  expect(JSON.stringify(results)).toContain("notes.txt");
});

test.each(["", "/workers", "/of-a-later-version", "/not-there"])(
  "a scope of the state folder%s is refused when the run starts",
  async (below) => {
    for (const toolsets of ["filesystem: {}", shell]) {
      const world = createHome(`sandbox: { paths: { own: { root: ../${state}${below}, mode: rw } } }\ntoolsets: { ${toolsets} }`);
      const { error, scripted } = await attack(world, { model: [], environment: usualPlace });
      expect(String(error)).toContain("holds the keys and secrets of llm-do");
      expect(scripted.requests).toEqual([]);
      expect(existsSync(world.at(`${state}/not-there`))).toBe(false);
    }
  },
);

test("reaches it by no link on the way to it, and where it is a link itself", async () => {
  const world = createHome(`${scope}\ntoolsets: { filesystem: {} }`);
  symlinkSync(world.at("home/.local/state/llm-do"), world.at("home/state-link"));
  const paths = ["home/state-link/trust.json", "home/.local/state/llm-do/trust.json"];
  const calls = paths.map((path) => ({ tool: "write_file", args: { path, content: trusting(world.at("program")) } }));
  await attack(world, { model: [calls], environment: { LLM_DO_STATE_DIR: world.at("home/state-link") } });
  expect(await isTrusted(world)).toBeUndefined();
});

test.skipIf(noWall !== "").each([true, false])(
  "no command reads or writes it (there already: %s)",
  { timeout: 60_000 },
  async (isMade) => {
    const world = createHome(`${scope}\ntoolsets: { ${shell} }`, isMade);
    const before = kept(world);
    const folder = ".local/state/llm-do";
    const commands = [
      `mkdir -p ${folder}/workers ${folder}/stores; echo '${trusting(world.at("program"))}' | tee ${names.map((name) => `${folder}/${name}`).join(" ")}; true`,
      `cat ${names.map((name) => `${folder}/${name}`).join(" ")}; ls -A ${folder}; true`,
      `echo mine > mine; mkdir -p .config/llm-do; echo 'model: evil' > .config/llm-do/config.yaml; true`,
      `ln ${folder}/trust.json hard; ln -s ${folder} soft; echo '${trusting(world.at("program"))}' > soft/trust.json; rm -rf ${folder}/*; true`,
      `mv ${folder} ${folder}2; mv .local .moved; mkdir -p ${folder}; echo '${trusting(world.at("program"))}' > ${folder}/trust.json; true`,
    ];
    const calls = commands.map((command) => ({ tool: "shell", args: { command, cwd: "home", writes: ["home/"] } }));
    const { error, results } = await attack(world, {
      model: calls.map((call) => [call]),
      environment: usualPlace,
      request: { journal: false },
    });
    expect(error).toBeUndefined();
    expect(kept(world)).toEqual(before);
    expect(await isTrusted(world)).toBeUndefined();
    expect(world.read("home/mine")).toBe("mine\n");
    expect(existsSync(world.at("home/.config/llm-do/config.yaml"))).toBe(false);
    expect(JSON.stringify(results[1])).not.toMatch(/folders|stores\\\\n/);
  },
);

test.skipIf(noWall !== "")(
  "a server of the program sees nothing in it, and cannot name it as a folder that it reads",
  { timeout: 60_000 },
  async () => {
    const world = createMcpWorld();
    world.environment["LLM_DO_STATE_DIR"] = join(world.folder, "keep/state");
    world.put("tools.json", '[{ "name": "read" }]');
    world.put("keep/state/input-history.jsonl", "typed before");
    world.put("keep/notes.txt", "notes");
    const paths = ["keep/state/input-history.jsonl", "keep/notes.txt"];
    const model = calling(...paths.map((path) => ["own__read", { path }] as const));
    const { results } = await world.play({ servers: { own }, model });
    expect(JSON.stringify(results)).not.toContain("typed before");
    expect(results.map((result) => result.ok && result.value)).toContain("notes");
    const named = await world.play({ servers: { own: { ...own, reads: ["keep/state"] } }, model });
    expect(JSON.stringify([String(named.error), named.results])).toContain("holds the keys and secrets of llm-do");
    expect(JSON.stringify(named.results)).not.toContain("typed before");
  },
);
