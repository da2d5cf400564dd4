import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { compile, type Program, type RunEvent, run } from "../../src/index.ts";
import { openTerminal } from "../cli/open-terminal.ts";
import { runCli, script } from "../cli/run-cli.ts";
import { approveAll, attack, outcome, untouched, World, worker } from "./world.ts";

const scope = (root: string) =>
  `description: x\nmodel: scripted:model.yaml\nsandbox: { paths: { d: { root: "${root}", mode: rw, write_approval: false } } }\ntoolsets: { filesystem: {} }`;

const calls = [
  { tool: "read_file", args: { path: "d/file" } },
  { tool: "write_file", args: { path: "d/new", content: "x" } },
];
const model = script({ "*": [{ calls }, "done"] });

function link(world: World, from: string, to: string): void {
  mkdirSync(dirname(world.at(from)), { recursive: true });
  symlinkSync(world.at(to), world.at(from));
}

describe.skipIf(process.platform === "win32")("a scope's root behind a link", () => {
  for (const [what, root, from, to] of [
    ["the root itself", "./data", "program/data", "outside"],
    ["a folder on the way", "./a/outside", "program/a", "."],
    ["a folder on the way to one that is to be made", "./a/made", "program/a", "outside"],
  ] as const) {
    test(`${what}: leads out of the folder, so it needs trust, and explain says where it leads`, async () => {
      const world = new World({ "main.worker": worker(scope(root)), "model.yaml": model });
      link(world, from, to);
      const cwd = world.at("program");
      const env = { LLM_DO_STATE_DIR: world.at("state") };
      const refused = await runCli([".", "go", "--headless"], { cwd, env });
      expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("reaches beyond its folder") });
      expect(world.outside()).toEqual(untouched);
      const { stdout } = await runCli(["explain", "."], { cwd, env });
      expect(stdout).toContain("OUTSIDE");
      expect(stdout).toContain(join(world.root, root.endsWith("made") ? "outside/made" : "outside"));
      expect((await runCli([".", "go", "--headless", "--trust"], { cwd, env })).exitCode).toBe(0);
      expect(world.outside()).not.toEqual(untouched);
    });
  }

  test("needs no trust inside of the folder", async () => {
    const world = new World({ "main.worker": worker(scope("./data")), "model.yaml": model, "real/file": "text" });
    link(world, "program/data", "program/real");
    link(world, "door", "program");
    const { exitCode } = await runCli([".", "go", "--headless"], { cwd: world.at("door") });
    expect(exitCode).toBe(0);
    expect(world.read("program/real/new")).toBe("x");
  });

  test("asks for trust again when the link leads elsewhere", async () => {
    const world = new World({ "main.worker": worker(scope("./data")), "model.yaml": model, "../first/file": "text" });
    link(world, "program/data", "first");
    const cwd = world.at("program");
    const terminal = openTerminal([".", "go"], { cwd });
    await terminal.waitFor("  no      do not run it\n>");
    terminal.type("always\r");
    expect(await terminal.exitCode, terminal.screen()).toBe(0);
    expect((await runCli([".", "go", "--headless"], { cwd })).exitCode).toBe(0);
    rmSync(world.at("program/data"));
    link(world, "program/data", "outside");
    const { exitCode, stderr } = await runCli([".", "go", "--headless"], { cwd });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`main reads and writes ${world.at("outside")} (writing does not ask)`),
    });
    expect(readdirSync(world.at("outside"))).toEqual(["file"]);
  });
});

describe.skipIf(process.platform === "win32")("a scope's root that moves after the program was compiled", () => {
  for (const [what, root, files] of [
    ["replaced by a link", "./data", { "data/file": "text" }],
    ["made through a link that came later", "./deep/er/data", {}],
    ["inside of a folder that was replaced by a link", "./data/outside", { "data/outside/file": "text" }],
  ] as const) {
    test(`${what}: the run is refused, and nothing is read or made there`, async () => {
      const world = new World({ "main.worker": worker(scope(root)), "model.yaml": model, ...files });
      const { program } = await compile({ target: world.at("program"), trust: true, toRun: true });
      const [top = ""] = root.slice(2).split("/");
      if (Object.keys(files).length > 0) renameSync(world.at(`program/${top}`), world.at("program/before"));
      link(world, `program/${top}`, root === "./data/outside" ? "." : "outside");
      const events: string[] = [];
      const onEvent = ({ type }: RunEvent) => void events.push(type);
      const running = run({
        program: program as Program,
        approval: approveAll,
        trust: true,
        journal: false,
        input: "go",
        onEvent,
      });
      await expect(running).rejects.toThrow("leads elsewhere than when the program was compiled");
      expect(events).not.toContain("turn-start");
      expect(world.outside()).toEqual(untouched);
    });
  }

  test("fails the call of a worker whose root moved in the run, and the run goes on", async () => {
    const world = new World({
      "main.worker": worker("description: x\ntoolsets: { helper: {} }\nsandbox: { paths: { w: { root: ./w, mode: rw } } }"),
      "helper.worker": worker(scope("./w/out").replace("model: scripted:model.yaml\n", "")),
      "w/file": "text",
    });
    const { result, results } = await attack(world, {
      model: ({ worker: name, turn, toolResults }) => {
        if (name !== "main") return "reached";
        if (turn > 1) return JSON.stringify(toolResults().map(outcome));
        link(world, "program/w/out", "outside");
        return { calls: [{ tool: "helper", args: { input: "go" } }] };
      },
    });
    expect(results).toEqual([]);
    expect(result).toMatchObject({ stopReason: "done", output: expect.not.stringContaining("ok") });
    expect(world.outside()).toEqual(untouched);
  });
});

describe.skipIf(process.platform === "win32")("a package behind a link", () => {
  const files = {
    "main.worker": worker('description: x\nmodel: scripted:model.yaml\ntoolsets: { "pack:helper.worker": {} }'),
    "model.yaml": script({ "*": ["done"] }),
    "package.json": '{ "dependencies": { "pack": "1" } }',
  };

  test("needs trust if it leads out of the folder, and none inside", async () => {
    for (const place of ["outside/pack", "program/.store/pack"]) {
      const world = new World(files);
      world.put(`${place}/package.json`, '{ "name": "pack" }');
      world.put(`${place}/helper.worker`, worker("description: y\nmodel: scripted:model.yaml"));
      link(world, "program/node_modules/pack", place);
      const { exitCode, stderr } = await runCli([".", "go", "--headless"], { cwd: world.at("program") });
      const isOutside = place.startsWith("outside");
      expect({ place, exitCode }).toEqual({ place, exitCode: isOutside ? 2 : 0 });
      expect(stderr.includes(world.at(place))).toBe(isOutside);
    }
  });
});
